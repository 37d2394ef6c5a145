package io.radixflow.text.regex;

/** Reads the escapes and the sets of characters of a dialect. */
interface CharacterSyntax {
  /** The characters that {@code .} matches; with {@code all}, every character. */
  CodePoints dot(boolean all);

  /**
   * The characters before which {@code $} matches in multi-line mode, and after which {@code ^}
   * matches.
   */
  CodePoints lineEnds();

  /** The characters that {@code \b} treats as parts of words. */
  CodePoints word();

  /** White space that verbose mode skips. */
  CodePoints blanks();

  /** Reads an escape after its backslash; returns the characters that it stands for. */
  CodePoints escape(boolean ignoreCase);

  /** Reads a set after its bracket. */
  CodePoints set(boolean ignoreCase, boolean verbose);
}
