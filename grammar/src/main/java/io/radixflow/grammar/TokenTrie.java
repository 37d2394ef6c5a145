package io.radixflow.grammar;

import io.radixflow.grammar.regex.FreeRun;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The bytes of a vocabulary's tokens, as tries. Special tokens are included only on request, and
 * tokens without bytes never. Immutable; created once for each tokenizer and shared.
 */
public final class TokenTrie {
  private final int vocabSize;
  private final int[] endIds;
  private final boolean dropsLeadingSpace;
  private final byte[][] bytes;

  private final TokenSlice.All slices;

  private TokenTrie(byte[][] bytes, int[] endIds, boolean dropsLeadingSpace) {
    this.bytes = bytes;
    this.endIds = endIds;
    this.dropsLeadingSpace = dropsLeadingSpace;
    vocabSize = bytes.length;
    slices = new TokenSlice.All(bytes, order());
  }

  /**
   * Returns the trie of a tokenizer. Where a grammar may end, a mask allows the end-of-turn ids.
   */
  public static TokenTrie of(Tokenizer tokenizer) {
    return of(tokenizer, Map.of());
  }

  /**
   * Returns the trie of a tokenizer with some special tokens.
   *
   * @param markup special tokens that the text of a reply has, with their texts
   */
  public static TokenTrie of(Tokenizer tokenizer, Map<Integer, String> markup) {
    byte[][] bytes = new byte[tokenizer.vocabSize()][];
    for (int id = 0; id < bytes.length; id++) {
      bytes[id] = tokenizer.bytes(id);
    }
    markup.forEach(
        (id, text) -> {
          if (bytes[id].length == 0) {
            bytes[id] = text.getBytes(StandardCharsets.UTF_8);
          }
        });
    return new TokenTrie(bytes, tokenizer.endOfTurnIds(), tokenizer.dropsLeadingSpace());
  }

  /** Returns the trie of a vocabulary; special tokens have no bytes. */
  public static TokenTrie of(List<byte[]> bytes, int... endIds) {
    return new TokenTrie(bytes.toArray(new byte[0][]), endIds.clone(), false);
  }

  private int[] order() {
    List<Integer> ids = new ArrayList<>();
    for (int id = 0; id < vocabSize; id++) {
      if (bytes[id].length > 0 && bytes[id].length < Short.MAX_VALUE && !ends(id)) {
        ids.add(id);
      }
    }
    ids.sort((a, b) -> Arrays.compareUnsigned(bytes[a], bytes[b]));
    return ids.stream().mapToInt(Integer::intValue).toArray();
  }

  TokenTree tree() {
    return slices.none.others();
  }

  /** Returns the tokens that an expression with this free run allows together. */
  TokenSlice slice(FreeRun run) {
    return slices.of(run);
  }

  public int vocabSize() {
    return vocabSize;
  }

  int[] endIds() {
    return endIds;
  }

  boolean ends(int id) {
    for (int end : endIds) {
      if (end == id) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether one leading space of a reply is dropped from its text. */
  boolean dropsLeadingSpace() {
    return dropsLeadingSpace;
  }

  byte[] bytes(int id) {
    return bytes[id];
  }
}
