package io.radixflow.tools.cli.chat;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;
import io.radixflow.operators.record.Usage;

/**
 * How a turn ended.
 *
 * @param finishReason lower case, as records have it
 * @param usage tokens of prompt and reply
 * @param error a message, or null
 */
public record TurnEnd(String finishReason, Usage usage, String error) {

  public static TurnEnd of(ReplyDelta last) {
    return new TurnEnd(last.finishReason(), last.usage(), null);
  }

  public static TurnEnd of(Reply reply) {
    String error = reply.error() == null ? null : reply.error().message();
    return new TurnEnd(reply.finishReason(), reply.usage(), error);
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
