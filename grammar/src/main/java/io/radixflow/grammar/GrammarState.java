package io.radixflow.grammar;

import io.radixflow.grammar.regex.Regex;

/**
 * All that may follow a text: lexemes that have begun, each with the calls that are open. Interned
 * by an {@link Automaton}.
 */
final class GrammarState {
  /** Of {@link #forced}: not looked for yet. */
  static final short UNKNOWN = -2;

  final Regex[] lexemes;
  final CallStack[] stacks;

  /** Whether the text may end here. */
  final boolean accepting;

  /** States by byte class, each null until it is asked for. */
  GrammarState[] row;

  /** Work of the steps in {@link #row}. */
  int[] work;

  /** The byte that is all but decided, see {@link ForcedText}; {@link #UNKNOWN} at first. */
  short forced = UNKNOWN;

  GrammarState(Regex[] lexemes, CallStack[] stacks, boolean accepting) {
    this.lexemes = lexemes;
    this.stacks = stacks;
    this.accepting = accepting;
  }

  /** Returns whether nothing may follow and the text may not end. */
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
