package io.radixflow.kernels.grammar;

import io.radixflow.kernels.grammar.regex.CharacterGroups;
import io.radixflow.kernels.grammar.regex.FreeRun;
import java.util.Arrays;

/**
 * Tokens of a vocabulary that are allowed together: those of characters that stand for themselves
 * in a JSON string, up to a length. Where an expression allows all such text, only the other tokens
 * are looked at. Immutable.
 */
final class TokenSlice {
  /** Longest tokens of slices, in characters. */
  private static final int[] LENGTHS = {Short.MAX_VALUE, 16, 8, 4};

  private final int length;

  /** Bits of the tokens; null for none. */
  final long[] mask;

  /** All other tokens. */
  final TokenTree others;

  private TokenSlice(int length, long[] mask, TokenTree others) {
    this.length = length;
    this.mask = mask;
    this.others = others;
  }

  /** Slices of a vocabulary, the largest first; the last is empty. */
  static TokenSlice[] of(byte[][] bytes, int[] order) {
    TokenSlice[] slices = new TokenSlice[LENGTHS.length + 1];
    int[] lengths = new int[order.length];
    for (int i = 0; i < order.length; i++) {
      lengths[i] = characters(bytes[order[i]]);
    }
    for (int i = 0; i < LENGTHS.length; i++) {
      slices[i] = of(bytes, order, lengths, LENGTHS[i]);
    }
    slices[LENGTHS.length] = new TokenSlice(0, null, new TokenTree(bytes, order));
    return slices;
  }

  private static TokenSlice of(byte[][] bytes, int[] order, int[] lengths, int length) {
    long[] mask = new long[(bytes.length + 63) >> 6];
    int[] others = new int[order.length];
    int count = 0;
    int longest = 0;
    for (int i = 0; i < order.length; i++) {
      int id = order[i];
      if (lengths[i] > 0 && lengths[i] <= length) {
        mask[id >> 6] |= 1L << id;
        longest = Math.max(longest, lengths[i]);
      } else {
        others[count++] = id;
      }
    }
    return new TokenSlice(longest, mask, new TokenTree(bytes, Arrays.copyOf(others, count)));
  }

  /** Characters of a token if all stand for themselves in a JSON string, otherwise 0. */
  private static int characters(byte[] bytes) {
    int count = 0;
    int at = 0;
    while (at < bytes.length) {
      int first = bytes[at] & 0xFF;
      int length = CharacterGroups.length(first);
      if (length == 0 || at + length > bytes.length) {
        return 0;
      }
      if (length == 1 && (CharacterGroups.ofAscii(first) & CharacterGroups.JSON) == 0
          || length > 1 && !CharacterGroups.mayFollow(first, bytes[at + 1] & 0xFF)) {
        return 0;
      }
      for (int i = at + 2; i < at + length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
          return 0;
        }
      }
      at += length;
      count++;
    }
    return count;
  }

  boolean isAllowedBy(FreeRun run) {
    return mask == null || run.covers(CharacterGroups.JSON, length);
  }
}
