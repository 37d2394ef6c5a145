package io.radixflow.operators.record;

import java.util.ArrayList;
import java.util.List;

/** Notes in which order the parts of a reply are written. Not thread safe. */
public final class PartOrder {
  private final List<PartLength> runs = new ArrayList<>();

  /** The rank of the last part, in the order of most replies. */
  private int rank;

  private boolean usual = true;

  /**
   * Adds text that follows what was added before.
   *
   * @param kind what part it belongs to; null for content
   * @param index of a call, else -1
   * @param length in code points
   */
  public void add(ReplyDelta.Kind kind, int index, int length) {
    if (length == 0) {
      return;
    }
    int last = runs.size() - 1;
    PartLength run = last < 0 ? null : runs.get(last);
    if (run != null && run.kind() == kind && run.index() == index) {
      runs.set(last, new PartLength(kind, index, run.length() + length));
      return;
    }
    runs.add(new PartLength(kind, index, length));
    int next = kind == ReplyDelta.Kind.REASONING_CONTENT ? 0 : kind == null ? 1 : 2;
    usual &= next >= rank;
    rank = next;
  }

  /** Returns the runs so far; empty if reasoning came first, then content, then calls. */
  public List<PartLength> runs() {
    return usual ? List.of() : List.copyOf(runs);
  }
}
