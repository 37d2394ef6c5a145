package io.radixflow.kernels.text.tokenizer;

import java.util.Map;

/**
 * Text to token ids and back. Immutable after construction; safe for use by many threads.
 *
 * <p>User text is encoded without special tokens ({@link #encode}): a user who types {@code
 * <|im_end|>} gets those characters. Special tokens are recognised only where a chat template wrote
 * them or where the caller asks ({@link #encodeWithSpecial}).
 */
public interface Tokenizer {

  /** Size of the vocabulary, special tokens included. */
  int vocabSize();

  /** Ids of a text in which nothing is special; adds no BOS or EOS. Lone surrogates are U+FFFD. */
  int[] encode(CharSequence text);

  /** Ids of a text in which special tokens are recognised anywhere; adds no BOS or EOS. */
  int[] encodeWithSpecial(CharSequence text);

  /**
   * The bytes that a token stands for, as a new array; empty for control tokens. Concatenated over
   * a reply they are its UTF-8 text, though one token may hold part of a character.
   */
  byte[] bytes(int id);

  /** Number of bytes of a token, 0 for control tokens and ids outside the vocabulary. */
  default int byteCount(int id) {
    return bytes(id).length;
  }

  /**
   * Copies a token's bytes, without an allocation where the implementation holds them.
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

  /** Ids that end a turn, by the model's own declaration; never empty for a chat model. */
  int[] endOfTurnIds();

  /**
   * Special tokens, with their texts, between which models write calls of tools and reasoning.
   * {@link #bytes} gives nothing for them.
   */
  default Map<Integer, String> markup() {
    return Map.of();
  }

  /**
   * Special tokens for which {@link #bytes} gives nothing, with their texts: the tokens of {@link
   * #markup}, and all others, such as BOS.
   */
  default Map<Integer, String> specials() {
    return markup();
  }

  /** 16 lower-case hexadecimal digits over vocabulary, merges, pre-tokenizer and special tokens. */
  String fingerprint();
}
