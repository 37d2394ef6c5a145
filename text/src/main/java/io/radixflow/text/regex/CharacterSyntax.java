package io.radixflow.text.regex;

/** Reads escapes and sets of characters as a dialect has them. */
interface CharacterSyntax {
  /** What {@code .} stands for; with {@code all}, every character. */
  CodePoints dot(boolean all);

  /**
   * The characters before which {@code $} matches in multi-line mode, and after which {@code ^}
   * matches.
   */
  CodePoints lineEnds();

  /** What {@code \b} takes for letters. */
  CodePoints word();

  /** White space that verbose mode skips. */
  CodePoints blanks();

  /** Reads an escape after its backslash; returns the characters that it stands for. */
  CodePoints escape(boolean ignoreCase);

  /** Reads a set after its bracket. */
  CodePoints set(boolean ignoreCase, boolean verbose);
}
