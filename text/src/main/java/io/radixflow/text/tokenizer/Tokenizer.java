package io.radixflow.text.tokenizer;

import java.util.Map;

/**
 * Converts text to token ids and back. Immutable after construction and thread-safe.
 *
 * <p>User text is encoded without special tokens ({@link #encode}): a user who types {@code
 * <|im_end|>} gets those characters. Special tokens are recognised only if a chat template wrote
 * them or the caller asks for it ({@link #encodeWithSpecial}).
 */
public interface Tokenizer {

  /** Size of the vocabulary, including special tokens. */
  int vocabSize();

  /** Encodes a text without special tokens, BOS or EOS. Lone surrogates become U+FFFD. */
  int[] encode(CharSequence text);

  /** Encodes a text and recognises special tokens everywhere in it. Does not add BOS or EOS. */
  int[] encodeWithSpecial(CharSequence text);

  /**
   * Returns the bytes of a token's text in a new array; empty for control tokens. The bytes of all
   * tokens of a reply are its UTF-8 text; a token may contain only a part of a character.
   */
  byte[] bytes(int id);

  /** Number of bytes of a token; 0 for control tokens and ids outside the vocabulary. */
  default int byteCount(int id) {
    return bytes(id).length;
  }

  /**
   * Copies a token's bytes. Allocates nothing if the implementation stores the bytes.
   *
   * @param target must have room for {@link #byteCount} bytes from {@code at}
   * @return the number of bytes
   */
  default int copyBytes(int id, byte[] target, int at) {
    byte[] bytes = bytes(id);
    System.arraycopy(bytes, 0, target, at, bytes.length);
    return bytes.length;
  }

  /** Returns whether one leading space is dropped from a reply's text. */
  default boolean dropsLeadingSpace() {
    return false;
  }

  /** The ids that end a turn, as the model declares them; never empty for a chat model. */
  int[] endOfTurnIds();

  /**
   * Returns the special tokens that mark tool calls and reasoning, with their texts. {@link #bytes}
   * is empty for them.
   */
  default Map<Integer, String> markup() {
    return Map.of();
  }

  /**
   * Returns all special tokens for which {@link #bytes} is empty, with their texts: the tokens of
   * {@link #markup}, and other tokens such as BOS.
   */
  default Map<Integer, String> specials() {
    return markup();
  }

  /**
   * Returns 16 lower-case hexadecimal digits that identify vocabulary, merges, pre-tokenizer and
   * special tokens.
   */
  String fingerprint();
}
