package io.radixflow.grammar;

import io.radixflow.grammar.regex.Regex;

/**
 * Everything that may follow a text: begun lexemes, each with its open calls. Interned by an {@link
 * Automaton}.
 */
final class GrammarState {
  /** A value of {@link #forced}: not computed yet. */
  static final short UNKNOWN = -2;

  final Regex[] lexemes;
  final CallStack[] stacks;

  /** Whether the text may end here. */
  final boolean accepting;

  /** Next states by byte class; each is computed on first use. */
  GrammarState[] row;

  /** Work of the steps in {@link #row}. */
  int[] work;

  /**
   * The only byte besides white space that may come, see {@link ForcedText}; {@link #UNKNOWN} at
   * first.
   */
  short forced = UNKNOWN;

  GrammarState(Regex[] lexemes, CallStack[] stacks, boolean accepting) {
    this.lexemes = lexemes;
    this.stacks = stacks;
    this.accepting = accepting;
  }

  /** Returns whether no byte may follow and the text may not end. */
  boolean isDead() {
    return lexemes.length == 0 && !accepting;
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof GrammarState that)
        || accepting != that.accepting
        || lexemes.length != that.lexemes.length) {
      return false;
    }
    for (int i = 0; i < lexemes.length; i++) {
      if (lexemes[i] != that.lexemes[i] || stacks[i] != that.stacks[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = accepting ? 1 : 0;
    for (int i = 0; i < lexemes.length; i++) {
      hash = 31 * (31 * hash + lexemes[i].id) + stacks[i].id;
    }
    return hash;
  }
}
