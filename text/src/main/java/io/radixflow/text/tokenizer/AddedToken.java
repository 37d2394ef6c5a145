package io.radixflow.text.tokenizer;

import io.radixflow.text.pretokenizer.Metaspace;
import io.radixflow.text.regex.UnicodeClasses;

/**
 * A token outside the merges, found in a text as a whole.
 *
 * @param text how it is written in a template
 * @param id its id
 * @param special whether it is hidden from the text that people see
 * @param match how it is found
 */
public record AddedToken(String text, int id, boolean special, Match match) {

  /**
   * How a token is found.
   *
   * @param stripLeft whether it swallows the white space before it
   * @param stripRight whether it swallows the white space after it
   * @param singleWord whether it is found only where no word goes on before or after it
   * @param normalized whether it is looked for in the normalised text
   */
  public record Match(
      boolean stripLeft, boolean stripRight, boolean singleWord, boolean normalized) {

    /** Anywhere in the text as it is written. */
    public static final Match PLAIN = new Match(false, false, false, false);
  }

  /** Returns whether the token is white space that any text may have. */
  boolean isBlank() {
    return !special
        && text.chars()
            .allMatch(c -> UnicodeClasses.of(c) == UnicodeClasses.SPACE || c == Metaspace.SPACE);
  }
}
