package io.radixflow.kernels.text.message;

import java.util.function.Consumer;

/** Joins neighbouring pieces of one kind, so that each call of a parser gives few parts. */
final class Parts {

  private final StringBuilder text = new StringBuilder();
  private PartKind kind = PartKind.CONTENT;
  private int index = -1;
  private Consumer<ReplyPart> out;

  /** Begins a call of the parser; {@link #flush} ends it. */
  void to(Consumer<ReplyPart> consumer) {
    out = consumer;
  }

  void content(CharSequence source, int from, int end) {
    select(PartKind.CONTENT, -1).append(source, from, end);
  }

  void reasoning(CharSequence source, int from, int end) {
    select(PartKind.REASONING, -1).append(source, from, end);
  }

  void call(int index, String name) {
    select(PartKind.TOOL_CALL, index).append(name);
  }

  /** Returns where to append text of a call's arguments. */
  StringBuilder arguments(int index) {
    return select(PartKind.ARGUMENTS, index);
  }

  void flush() {
    if (!text.isEmpty()) {
      out.accept(new ReplyPart(kind, index, text.toString()));
      text.setLength(0);
    }
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
