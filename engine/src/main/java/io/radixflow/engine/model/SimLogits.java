package io.radixflow.engine.model;

import io.radixflow.text.SimTokenizer;
import java.util.Arrays;

/**
 * Logits from a hash. They give pronounceable words of alternating vowels and consonants, and
 * sometimes end the turn.
 */
record SimLogits(double endOfTurn) {
  private static final float NEVER = -60f;
  private static final float ALWAYS = 60f;
  private static final String VOWELS = "aeiou";

  /**
   * Fills the logits of the token after a prefix.
   *
   * @param prefix hash of all slots of the prefix
   * @param last the prefix's last token
   * @param logits receives one value per vocabulary entry
   */
  void fill(long prefix, int last, float[] logits) {
    Arrays.fill(logits, NEVER);
    boolean afterVowel = isVowel(last);
    boolean afterLetter = last >= 'a' && last <= 'z';
    for (int c = 'a'; c <= 'z'; c++) {
      boolean wanted = !afterLetter || isVowel(c) != afterVowel;
      logits[c] = 4f * unit(prefix, c) + (wanted ? 2f : 0f);
    }
    if (afterLetter) {
      logits[' '] = 3f * unit(prefix, ' ') + 3f;
      logits['.'] = unit(prefix, '.');
    } else if (last == '.') {
      logits[' '] = ALWAYS / 2;
    }
    if (unit(prefix, SimTokenizer.END) < endOfTurn) {
      logits[SimTokenizer.END] = ALWAYS;
    }
  }

  /** Fills the logits so that only {@code token} can be drawn. */
  void force(int token, float[] logits) {
    Arrays.fill(logits, NEVER);
    logits[token] = ALWAYS;
  }

  private static boolean isVowel(int token) {
    return VOWELS.indexOf(token) >= 0;
  }

  private static float unit(long prefix, int salt) {
    return (SimPool.mix(prefix, salt) >>> 40) * 0x1p-24f;
  }
}
