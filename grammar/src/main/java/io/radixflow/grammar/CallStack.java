package io.radixflow.grammar;

import java.util.Arrays;

/**
 * The open calls, as a set of stacks that share their lower parts. An {@link Automaton} interns
 * them, so that equal sets are the same object.
 */
final class CallStack {
  final boolean bottom;

  /** The top of each group of stacks: the instruction to return to, and its count; ascending. */
  final long[] frames;

  /** The stacks below each frame. */
  final CallStack[] below;

  final int depth;
  int id;

  /** The state after a return to these stacks; computed on first use. */
  GrammarState returned;

  /** Work of computing {@link #returned}. */
  int returnWork;

  CallStack(boolean bottom, long[] frames, CallStack[] below) {
    this.bottom = bottom;
    this.frames = frames;
    this.below = below;
    int deepest = 0;
    for (CallStack stack : below) {
      deepest = Math.max(deepest, stack.depth + 1);
    }
    depth = deepest;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CallStack that
        && bottom == that.bottom
        && Arrays.equals(frames, that.frames)
        && sameBelow(that);
  }

  private boolean sameBelow(CallStack that) {
    for (int i = 0; i < below.length; i++) {
      if (below[i] != that.below[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int hashCode() {
    int hash = Arrays.hashCode(frames) + (bottom ? 1 : 0);
    for (CallStack stack : below) {
      hash = 31 * hash + stack.id;
    }
    return hash;
  }
}
