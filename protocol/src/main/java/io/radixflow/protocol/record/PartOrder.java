package io.radixflow.protocol.record;

import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;

/** Notes in which order the parts of a reply are written. Not thread-safe. */
public final class PartOrder {
  private final List<PartLength> runs = new ArrayList<>();

  /** The rank of the last part, in the order of most replies. */
  private int rank;

  private boolean usual = true;

  /**
   * Adds text after the text added before.
   *
   * @param kind the part that it belongs to; null for content
   * @param index number of a call, else -1
   * @param length length in code points
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

  /** Returns the runs of a reply without the runs of its beginning. */
  public static List<PartLength> after(Message beginning, List<PartLength> runs) {
    int content = codePoints(beginning.content());
    int reasoning = codePoints(beginning.reasoning());
    PartOrder rest = new PartOrder();
    for (PartLength run : runs) {
      int cut = 0;
      if (run.kind() == null) {
        cut = Math.min(content, run.length());
        content -= cut;
      } else if (run.kind() == ReplyDelta.Kind.REASONING_CONTENT) {
        cut = Math.min(reasoning, run.length());
        reasoning -= cut;
      }
      rest.add(run.kind(), run.index(), run.length() - cut);
    }
    return rest.runs();
  }

  private static int codePoints(String text) {
    return text == null ? 0 : text.codePointCount(0, text.length());
  }

  /** Returns the runs so far; empty if reasoning came first, then content, then calls. */
  public List<PartLength> runs() {
    return usual ? List.of() : List.copyOf(runs);
  }
}
