package io.radixflow.text.reply;

import java.util.function.Consumer;

/**
 * Reads a reply step by step and holds back text that is not decided yet. Adjacent pieces of the
 * same kind are joined, so that each call produces few parts.
 */
abstract class StreamParser implements ReplyParser {

  /** The reply's text. From {@link #from} on it is not decided yet. */
  final StringBuilder held = new StringBuilder();

  int from;

  private final StringBuilder text = new StringBuilder();
  private PartKind kind = PartKind.CONTENT;
  private int index = -1;
  private Consumer<ReplyPart> out;
  private boolean cut;

  /**
   * Does one step. Returns whether another step is possible without more text.
   *
   * @param last whether the reply has no more text
   */
  abstract boolean step(boolean last);

  @Override
  public void accept(CharSequence text, Consumer<ReplyPart> out) {
    held.append(text);
    run(false, out);
  }

  @Override
  public void finish(boolean cut, Consumer<ReplyPart> out) {
    this.cut = cut;
    run(true, out);
  }

  /** Returns whether something other than the model ended the reply. */
  final boolean isCut() {
    return cut;
  }

  /**
   * Returns whether the reply was cut inside a mark that begins at a position. Letters are not
   * enough evidence for a mark, and neither is a single character after other text.
   *
   * @param first whether the reply has no text before the position
   */
  final boolean cut(int at, boolean first) {
    boolean enough = first || held.length() - at > 1;
    return cut && enough && at < held.length() && !Character.isLetter(held.charAt(at));
  }

  private void run(boolean last, Consumer<ReplyPart> consumer) {
    out = consumer;
    while (step(last)) {}
    flush();
    held.delete(0, from);
    from = 0;
  }

  final void giveContent(CharSequence source, int start, int end) {
    select(PartKind.CONTENT, -1).append(source, start, end);
  }

  final void giveReasoning(CharSequence source, int start, int end) {
    select(PartKind.REASONING, -1).append(source, start, end);
  }

  final void giveCall(int index, String name) {
    select(PartKind.TOOL_CALL, index).append(name);
  }

  /** Returns the builder for the text of a call's arguments. */
  final StringBuilder giveArguments(int index) {
    return select(PartKind.ARGUMENTS, index);
  }

  /** Passes on the joined text. Returns the consumer of parts for this call. */
  final Consumer<ReplyPart> flush() {
    if (!text.isEmpty()) {
      out.accept(new ReplyPart(kind, index, text.toString()));
      text.setLength(0);
    }
    return out;
  }

  private StringBuilder select(PartKind kind, int index) {
    if (kind != this.kind || index != this.index) {
      flush();
      this.kind = kind;
      this.index = index;
    }
    return text;
  }
}
