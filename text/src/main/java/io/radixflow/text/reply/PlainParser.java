package io.radixflow.text.reply;

import java.util.function.Consumer;

/** Parses replies that are only content. */
final class PlainParser implements ReplyParser {

  @Override
  public void accept(CharSequence text, Consumer<ReplyPart> out) {
    if (!text.isEmpty()) {
      out.accept(new ReplyPart(PartKind.CONTENT, -1, text.toString()));
    }
  }

  @Override
  public void finish(boolean cut, Consumer<ReplyPart> out) {}
}
