package io.radixflow.engine.request;

import io.radixflow.kernels.sampling.TokenMask;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The tokens that a reply may have at each of its positions, independent of a grammar: the allowed
 * tokens, except bad words, and except tokens that would end the reply before its minimum length.
 * Immutable.
 *
 * <p>Most rules depend on the position alone. A bad word of several tokens also depends on the
 * tokens before it.
 */
public final class TokenRules {
  private final int minTokens;

  /**
   * The masks of positions before {@link #minTokens} and of later positions; null for all tokens.
   */
  private final long[] early;

  private final long[] late;

  /** Bad words of several tokens: the last token must not follow the others. */
  private final int[][] sequences;

  private final int longest;

  private TokenRules(int minTokens, long[] early, long[] late, int[][] sequences) {
    this.minTokens = minTokens;
    this.early = early;
    this.late = late;
    this.sequences = sequences;
    int most = 0;
    for (int[] sequence : sequences) {
      most = Math.max(most, sequence.length);
    }
    this.longest = most;
  }

  /**
   * Returns the rules of a reply; null if it may have any token.
   *
   * @param ends the tokens that end the reply
   * @param modelVocab ids that the model knows
   * @param maskVocab ids in a mask; at least {@code modelVocab}
   * @throws IllegalArgumentException if a token is not in the vocabulary, or none is left
   */
  public static TokenRules of(
      TokenOptions options, int[] ends, Tokenizer tokenizer, int modelVocab, int maskVocab) {
    List<int[]> words = badWords(options.badWords(), tokenizer);
    boolean allowing = options.allowedTokenIds() != null;
    int min = options.fewestTokens();
    if (!allowing && words.isEmpty() && (min == 0 || ends.length == 0)) {
      return null;
    }
    long[] late = new long[TokenMask.words(maskVocab)];
    if (allowing) {
      for (int id : options.allowedTokenIds()) {
        allow(late, id, modelVocab);
      }
    } else {
      Arrays.fill(late, -1);
      clearFrom(late, modelVocab);
    }
    List<int[]> sequences = new ArrayList<>();
    for (int[] word : words) {
      if (word.length == 1) {
        ban(late, word[0]);
      } else {
        sequences.add(word);
      }
    }
    long[] early = late.clone();
    for (int id : ends) {
      ban(early, id);
    }
    requireSome(late, "allowed_token_ids and bad_words leave no token that a reply may have");
    if (min > 0) {
      requireSome(
          early,
          "min_tokens is "
              + min
              + ", but allowed_token_ids and bad_words leave only tokens that end the reply");
    }
    boolean free = !allowing && words.stream().noneMatch(word -> word.length == 1);
    return new TokenRules(
        min, min == 0 ? null : early, free ? null : late, sequences.toArray(int[][]::new));
  }

  /** Returns the tokens of each word, at the beginning of a text and after a space. */
  private static List<int[]> badWords(List<String> texts, Tokenizer tokenizer) {
    List<int[]> words = new ArrayList<>();
    for (String text : texts == null ? List.<String>of() : texts) {
      String word = text.stripLeading();
      int[] plain = tokenizer.encode(word);
      int[] spaced = tokenizer.encode(" " + word);
      if (plain.length > 0) {
        words.add(plain);
      }
      boolean begins = plain.length > 0 && spaced.length == plain.length;
      if (begins && spaced[0] != plain[0]) {
        words.add(spaced);
      }
    }
    return words;
  }

  private static void allow(long[] mask, int id, int vocabSize) {
    requireKnown("allowed_token_ids", id, vocabSize);
    mask[id >> 6] |= 1L << id;
  }

  private static void ban(long[] mask, int id) {
    if (id >> 6 < mask.length) {
      mask[id >> 6] &= ~(1L << id);
    }
  }

  private static void clearFrom(long[] mask, int end) {
    for (int id = end; id < mask.length * Long.SIZE; id++) {
      ban(mask, id);
    }
  }

  /**
   * Checks an id that a request names.
   *
   * @throws IllegalArgumentException if it is not in the vocabulary
   */
  public static void requireKnown(String field, int id, int vocabSize) {
    if (id < 0 || id >= vocabSize) {
      throw new IllegalArgumentException(
          field + " has " + id + "; the vocabulary has ids 0 to " + (vocabSize - 1));
    }
  }

  private static void requireSome(long[] mask, String otherwise) {
    if (Arrays.stream(mask).allMatch(word -> word == 0)) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  /** Returns how many of a reply's last tokens decide what may come next. */
  int memory() {
    return Math.max(0, longest - 1);
  }

  /** Returns whether any rule applies from a position on. */
  boolean restrictsFrom(int position) {
    return late != null || sequences.length > 0 || position < minTokens;
  }

  /** Returns the mask that follows from the position alone; null if any token may come. */
  long[] mask(int position) {
    return position < minTokens ? early : late;
  }

  /**
   * Returns whether a bad word would end with the next token.
   *
   * @param last the last {@link #memory} tokens of the reply, the newest at {@code end - 1}
   */
  boolean bans(int[] last, int end) {
    for (int[] sequence : sequences) {
      if (endsBefore(sequence, last, end)) {
        return true;
      }
    }
    return false;
  }

  /** Removes from a mask the tokens that may not come at a position. */
  void restrict(long[] mask, int position, int[] last, int end) {
    long[] own = mask(position);
    if (own != null) {
      for (int i = 0; i < mask.length; i++) {
        mask[i] &= own[i];
      }
    }
    for (int[] sequence : sequences) {
      if (endsBefore(sequence, last, end)) {
        ban(mask, sequence[sequence.length - 1]);
      }
    }
  }

  private static boolean endsBefore(int[] sequence, int[] last, int end) {
    int before = sequence.length - 1;
    return before <= end && Arrays.equals(sequence, 0, before, last, end - before, end);
  }
}
