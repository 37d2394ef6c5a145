package io.radixflow.tools.cli.chat;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/**
 * How a turn ended.
 *
 * @param finishReason lower case, as records have it
 * @param promptTokens tokens of the prompt
 * @param cachedTokens of those, from the cache
 * @param completionTokens generated tokens
 * @param error a message, or null
 */
public record TurnEnd(
    String finishReason, int promptTokens, int cachedTokens, int completionTokens, String error) {

  public static TurnEnd of(ReplyDelta last) {
    return new TurnEnd(
        last.finishReason(),
        last.usage().promptTokens(),
        last.usage().cachedTokens(),
        last.usage().completionTokens(),
        null);
  }

  public static TurnEnd of(Reply reply) {
    return new TurnEnd(
        reply.finishReason(),
        reply.usage().promptTokens(),
        reply.usage().cachedTokens(),
        reply.usage().completionTokens(),
        reply.error());
  }

  public boolean failed() {
    return finishReason.equals("error") || finishReason.equals("rejected");
  }

  public String line() {
    return "cached/prompt "
        + cachedTokens
        + "/"
        + promptTokens
        + " tokens, reply "
        + completionTokens
        + ", "
        + finishReason
        + (error == null ? "" : ": " + error);
  }
}
