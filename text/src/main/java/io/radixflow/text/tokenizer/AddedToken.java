package io.radixflow.text.tokenizer;

import io.radixflow.text.pretokenizer.Metaspace;
import io.radixflow.text.regex.UnicodeClasses;

/**
 * A token that is not the result of merges, but is found in a text as a whole.
 *
 * @param text the text of the token
 * @param id the id of the token
 * @param special whether the token is hidden in the text that people see
 * @param match how the token is searched for
 */
public record AddedToken(String text, int id, boolean special, Match match) {

  /**
   * How a token is searched for.
   *
   * @param stripLeft whether the token includes the white space before it
   * @param stripRight whether the token includes the white space after it
   * @param singleWord whether the token is found only if it is not part of a longer word
   * @param normalized whether the token is searched for in the normalised text
   */
  public record Match(
      boolean stripLeft, boolean stripRight, boolean singleWord, boolean normalized) {

    /** The token is found anywhere in the original text. */
    public static final Match PLAIN = new Match(false, false, false, false);
  }

  /** Returns whether the token is white space that any text may have. */
  boolean isBlank() {
    return !special
        && text.chars()
            .allMatch(c -> UnicodeClasses.of(c) == UnicodeClasses.SPACE || c == Metaspace.SPACE);
  }
}
