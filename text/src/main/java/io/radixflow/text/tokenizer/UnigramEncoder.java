package io.radixflow.text.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Unigram: of all ways to split a piece into tokens, the one with the greatest sum of scores; of
 * equal ways, the one that was found first. A character without a token costs more than any token.
 * It becomes the tokens of its UTF-8 bytes, or the unknown token.
 */
final class UnigramEncoder implements PieceEncoder {

  private static final double UNKNOWN_PENALTY = 10;

  private final double[] scores;
  private final double unknownScore;
  private final int[] byteIds;
  private final int unknownId;

  /** The edges of a trie over UTF-16 chars: (node, char) to node. Node 0 is the root. */
  private final MergeTable children;

  private final int[] tokenAt;

  /**
   * @param plain ids that plain text may be encoded to
   * @param byteIds the id of each byte's token, or -1
   * @param unknownId the token for characters that have none, or -1 to drop them
   */
  UnigramEncoder(List<String> tokens, double[] scores, BitSet plain, int[] byteIds, int unknownId) {
    this.scores = scores;
    this.byteIds = byteIds;
    this.unknownId = unknownId;
    unknownScore = Arrays.stream(scores).min().orElse(0) - UNKNOWN_PENALTY;
    int chars = plain.stream().map(id -> tokens.get(id).length()).sum();
    children = new MergeTable(chars);
    tokenAt = new int[chars + 1];
    Arrays.fill(tokenAt, -1);
    int nodes = 1;
    for (int id = plain.nextSetBit(0); id >= 0; id = plain.nextSetBit(id + 1)) {
      int node = 0;
      for (char c : tokens.get(id).toCharArray()) {
        int slot = children.find(node, c);
        if (slot < 0) {
          children.put(node, c, 0, nodes++);
          slot = children.find(node, c);
        }
        node = children.merged(slot);
      }
      tokenAt[node] = id;
    }
  }

  @Override
  public void encode(char[] text, int from, int to, IntList ids) {
    int length = to - from;
    double[] best = new double[length + 1];
    int[] begins = new int[length + 1];
    int[] tokens = new int[length + 1];
    Arrays.fill(begins, -1);
    int at = 0;
    while (at < length) {
      int next = at + Character.charCount(Character.codePointAt(text, from + at, to));
      boolean known = false;
      int node = 0;
      for (int end = at; end < length; ) {
        int slot = children.find(node, text[from + end]);
        if (slot < 0) {
          break;
        }
        node = children.merged(slot);
        end++;
        if (tokenAt[node] >= 0) {
          offer(best, begins, tokens, at, end, tokenAt[node], scores[tokenAt[node]]);
          known |= end == next;
        }
      }
      if (!known) {
        offer(best, begins, tokens, at, next, -1, unknownScore);
      }
      at = next;
    }
    append(text, from, cuts(begins, length), tokens, ids);
  }

  private static void offer(
      double[] best, int[] begins, int[] tokens, int at, int end, int token, double score) {
    double sum = best[at] + score;
    if (begins[end] < 0 || sum > best[end]) {
      best[end] = sum;
      begins[end] = at;
      tokens[end] = token;
    }
  }

  /** Returns the ends of the tokens of the best way to split, in order. */
  private static int[] cuts(int[] begins, int length) {
    int count = 0;
    for (int end = length; end > 0; end = begins[end]) {
      count++;
    }
    int[] cuts = new int[count];
    for (int end = length; end > 0; end = begins[end]) {
      cuts[--count] = end;
    }
    return cuts;
  }

  /** Appends the tokens. Consecutive unknown characters are treated as one text without a token. */
  private void append(char[] text, int from, int[] cuts, int[] tokens, IntList ids) {
    int start = 0;
    for (int i = 0; i < cuts.length; i++) {
      int end = cuts[i];
      boolean unknown = tokens[end] < 0;
      if (unknown && i + 1 < cuts.length && tokens[cuts[i + 1]] < 0) {
        continue;
      }
      if (unknown) {
        addUnknown(new String(text, from + start, end - start), ids);
      } else {
        ids.add(tokens[end]);
      }
      start = end;
    }
  }

  private void addUnknown(String text, IntList ids) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    boolean all = true;
    for (byte b : bytes) {
      all &= byteIds[b & 0xFF] >= 0;
    }
    for (byte b : all ? bytes : new byte[0]) {
      ids.add(byteIds[b & 0xFF]);
    }
    if (!all && unknownId >= 0) {
      ids.add(unknownId);
    }
  }
}
