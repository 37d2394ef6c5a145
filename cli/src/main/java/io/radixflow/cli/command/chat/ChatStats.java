package io.radixflow.cli.command.chat;

import java.util.Locale;

/** The turns and tokens of a conversation so far. */
final class ChatStats {
  private int turns;
  private long promptTokens;
  private long cachedTokens;
  private long completionTokens;
  private ReplyView lastView;
  private ChatTurnEnd lastEnd;

  void add(ReplyView view, ChatTurnEnd end) {
    turns++;
    promptTokens += end.usage().promptTokens();
    cachedTokens += end.usage().cachedTokens();
    completionTokens += end.usage().completionTokens();
    lastView = view;
    lastEnd = end;
  }

  String text() {
    if (lastEnd == null) {
      return "Nothing was said yet.";
    }
    double decoding = (lastView.endNanos() - lastView.firstNanos()) * 1e-9;
    return String.format(
        Locale.ROOT,
        "last turn: %s; first text after %.0f ms, then %.1f tokens/s%n"
            + "all %d turns: cached/prompt %d/%d tokens, replies %d",
        lastEnd.line(),
        lastView.firstNanos() * 1e-6,
        decoding > 0 ? (lastEnd.usage().completionTokens() - 1) / decoding : 0,
        turns,
        cachedTokens,
        promptTokens,
        completionTokens);
  }
}
