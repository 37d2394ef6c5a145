package io.radixflow.text.tokenizer;

import io.radixflow.text.pretokenizer.Metaspace;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The tokens of a model file that are written in characters, with U+2581 for spaces and {@code
 * <0x0A>} for bytes.
 */
final class CharacterVocabulary {

  /**
   * Longer tokens are never the result of a merge, because loading tries all ways to split a token.
   */
  private static final int LONGEST_MERGED = 256;

  private final List<String> tokens;
  private final List<AddedToken> added;
  private final BitSet plain;
  private final Map<String, Integer> ids = new HashMap<>();

  /**
   * @param plain ids that plain text may be encoded to: all except added, byte and unused tokens
   */
  CharacterVocabulary(List<String> tokens, List<AddedToken> added, BitSet plain) {
    this.tokens = tokens;
    this.added = added;
    this.plain = plain;
    plain.stream().forEach(id -> ids.putIfAbsent(tokens.get(id), id));
  }

  Vocabulary vocabulary(int[] endOfTurnIds) {
    return new Vocabulary(bytes(), added, endOfTurnIds);
  }

  /**
   * Returns the BPE encoder of this vocabulary.
   *
   * @param bytes whether characters without a token become the tokens of their bytes
   * @param unknownId the token for characters that have none, or -1 to drop them
   * @param wholePieces whether a piece that is a token is not merged
   */
  PieceEncoder bpe(
      MergeTable merges, boolean bytes, int unknownId, boolean fusesUnknown, boolean wholePieces) {
    Map<Integer, Integer> characters = new HashMap<>();
    ids.forEach(
        (token, id) -> {
          if (token.codePointCount(0, token.length()) == 1) {
            characters.put(token.codePointAt(0), id);
          }
        });
    return new CharacterEncoder(
        new CharacterEncoder.Characters(
            Map.copyOf(characters), byteIds(bytes), unknownId, fusesUnknown),
        merges,
        wholePieces ? ids : Map.of(),
        ids.keySet().stream().noneMatch(CharacterVocabulary::hasInnerSpace));
  }

  /** Returns the Unigram encoder of this vocabulary. See {@link #bpe} for the parameters. */
  PieceEncoder unigram(double[] scores, boolean bytes, int unknownId) {
    return new UnigramEncoder(tokens, scores, plain, byteIds(bytes), unknownId);
  }

  /**
   * Returns merges by score: each way to split a token into two tokens is a merge. Its rank is the
   * rank of the token's score.
   */
  MergeTable mergesByScore(float[] scores) {
    List<Integer> order = new ArrayList<>();
    int cuts = 0;
    for (int id = plain.nextSetBit(0); id >= 0; id = plain.nextSetBit(id + 1)) {
      if (tokens.get(id).length() <= LONGEST_MERGED) {
        order.add(id);
        cuts += Math.max(0, tokens.get(id).length() - 1);
      }
    }
    order.sort((a, b) -> Float.compare(scores[b], scores[a]));
    MergeTable table = new MergeTable(cuts);
    int rank = 0;
    for (int i = 0; i < order.size(); i++) {
      int id = order.get(i);
      if (i > 0 && scores[id] != scores[order.get(i - 1)]) {
        rank++;
      }
      putCuts(table, tokens.get(id), id, rank);
    }
    return table;
  }

  private void putCuts(MergeTable table, String token, int id, int rank) {
    for (int cut = 1; cut < token.length(); cut++) {
      Integer left = ids.get(token.substring(0, cut));
      Integer right = left == null ? null : ids.get(token.substring(cut));
      if (right != null) {
        table.put(left, right, rank, id);
      }
    }
  }

  /** Returns the listed merges, best first. */
  MergeTable mergesByList(List<String[]> pairs) {
    return MergeTable.of(pairs, ids);
  }

  private static boolean hasInnerSpace(String token) {
    int last = token.lastIndexOf(Metaspace.SPACE);
    return last > 0 && token.substring(0, last).chars().anyMatch(c -> c != Metaspace.SPACE);
  }

  private int[] byteIds(boolean used) {
    int[] byteIds = new int[256];
    Arrays.fill(byteIds, -1);
    for (int id = 0; used && id < tokens.size(); id++) {
      int value = byteValue(tokens.get(id));
      if (value >= 0 && byteIds[value] < 0) {
        byteIds[value] = id;
      }
    }
    return byteIds;
  }

  private List<byte[]> bytes() {
    List<byte[]> bytes = new ArrayList<>(tokens.size());
    for (String token : tokens) {
      int value = byteValue(token);
      bytes.add(
          value >= 0
              ? new byte[] {(byte) value}
              : token.replace(Metaspace.SPACE, ' ').getBytes(StandardCharsets.UTF_8));
    }
    return bytes;
  }

  /** The byte that a token such as {@code <0x0A>} means, or -1. */
  static int byteValue(String token) {
    if (token.length() != 6 || !token.startsWith("<0x") || token.charAt(5) != '>') {
      return -1;
    }
    int high = Character.digit(token.charAt(3), 16);
    int low = Character.digit(token.charAt(4), 16);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }
}
