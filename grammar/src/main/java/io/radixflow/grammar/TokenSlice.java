package io.radixflow.grammar;

import io.radixflow.grammar.regex.CharacterGroups;
import io.radixflow.grammar.regex.FreeRun;
import java.util.Arrays;

/**
 * Tokens of a vocabulary that are allowed together: plain tokens up to a length, made only of
 * characters that need no escape in a JSON string. If an expression allows all such text, only the
 * other tokens are checked. Immutable.
 *
 * @param mask bits of the tokens; null for none
 * @param others the tokens to check: all tokens that are not plain, or all tokens
 */
record TokenSlice(long[] mask, TokenTree others) {
  /** Length limit of plain tokens, in characters; longer tokens are among the others. */
  private static final int LONGEST = 128;

  /** Most plain tokens have no more characters than this. */
  private static final int SHORT = 16;

  /** The slices of a vocabulary. */
  static final class All {
    final TokenSlice none;

    /**
     * Plain tokens of up to {@link #SHORT} characters; longer plain tokens are among the others.
     */
    private final TokenSlice shorter;

    /** Slices by the most characters of their plain tokens; longer plain tokens are skipped. */
    private final TokenSlice[] upTo;

    /**
     * @param order ids of the tokens in the order of their bytes
     */
    All(byte[][] bytes, int[] order) {
      none = new TokenSlice(null, new TokenTree(bytes, order));
      int[][] plain = new int[LONGEST + 1][0];
      int[] counts = new int[LONGEST + 1];
      int[] open = new int[order.length];
      int openCount = 0;
      int longest = 0;
      for (int id : order) {
        int length = characters(bytes[id]);
        longest = Math.max(longest, length);
        if (length == 0 || length > SHORT) {
          open[openCount++] = id;
        }
        if (counts[length] == plain[length].length) {
          plain[length] = Arrays.copyOf(plain[length], 16 + 2 * counts[length]);
        }
        plain[length][counts[length]++] = id;
      }
      TokenTree others = new TokenTree(bytes, Arrays.copyOf(plain[0], counts[0]));
      upTo = new TokenSlice[longest + 1];
      upTo[0] = new TokenSlice(new long[(bytes.length + 63) >> 6], others);
      for (int length = 1; length <= longest; length++) {
        upTo[length] = upTo[length - 1];
        if (counts[length] > 0) {
          long[] mask = upTo[length].mask.clone();
          for (int i = 0; i < counts[length]; i++) {
            mask[plain[length][i] >> 6] |= 1L << plain[length][i];
          }
          upTo[length] = new TokenSlice(mask, others);
        }
      }
      shorter =
          new TokenSlice(
              upTo[Math.min(SHORT, longest)].mask,
              new TokenTree(bytes, Arrays.copyOf(open, openCount)));
    }

    /** Returns the largest slice that an expression allows as a whole. */
    TokenSlice of(FreeRun run) {
      int length = Math.min(run.length(), upTo.length - 1);
      if (!run.covers(CharacterGroups.JSON, length)) {
        return none;
      }
      boolean all = length == upTo.length - 1;
      return run.closed() || all ? upTo[length] : length < SHORT ? none : shorter;
    }
  }

  /** Returns the number of characters of a plain token; 0 for other tokens. */
  private static int characters(byte[] bytes) {
    int count = 0;
    int at = 0;
    while (at < bytes.length) {
      int first = bytes[at] & 0xFF;
      int length = CharacterGroups.length(first);
      if (length == 0 || at + length > bytes.length || ++count > LONGEST) {
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
    }
    return count;
  }
}
