package io.radixflow.cli.command.chat;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.Usage;

/**
 * The end of a turn.
 *
 * @param finishReason the finish reason in lower case, as in records
 * @param usage tokens of prompt and reply
 * @param error a message, or null
 */
public record ChatTurnEnd(String finishReason, Usage usage, String error) {

  public static ChatTurnEnd of(ReplyDelta last) {
    return new ChatTurnEnd(last.finishReason(), last.usage(), null);
  }

  public static ChatTurnEnd of(Reply reply) {
    String error = reply.error() == null ? null : reply.error().message();
    return new ChatTurnEnd(reply.finishReason(), reply.usage(), error);
  }

  public boolean failed() {
    return finishReason.equals("error") || finishReason.equals("rejected");
  }

  public String line() {
    return "cached/prompt "
        + usage.cachedTokens()
        + "/"
        + usage.promptTokens()
        + " tokens, reply "
        + usage.completionTokens()
        + ", "
        + finishReason
        + (error == null ? "" : ": " + error);
  }
}
