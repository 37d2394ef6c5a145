package io.radixflow.protocol.topic;

import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The JSON object {@code turn_state} of a reply. A field that is null is left out. */
record TurnStateFields(
    String turn,
    String turnStatus,
    String branch,
    String previousTurn,
    long created,
    Long completed,
    Map<String, String> metadata,
    List<MessageJson> messages,
    String text,
    ReplyFields.Logprobs logprobs,
    String finishReason,
    String stopReason,
    ReplyFields.UsageJson usage,
    ReplyFields.ErrorJson error,
    String reasoningContent,
    List<MessageJson.CallJson> toolCalls,
    List<ReplyFields.PartJson> parts,
    GenerationOptions options) {

  static TurnStateFields of(Reply.TurnState state) {
    return state == null
        ? null
        : new TurnStateFields(
            state.turn(),
            state.status(),
            state.branch(),
            state.previousTurn(),
            ReplyFields.toSeconds(state.created()),
            state.completed() == 0 ? null : ReplyFields.toSeconds(state.completed()),
            state.metadata(),
            MessageJson.of(state.messages()),
            state.text(),
            state.logprobs() == null ? null : new ReplyFields.Logprobs(state.logprobs()),
            state.finishReason(),
            state.stopReason(),
            state.usage() == null ? null : ReplyFields.UsageJson.of(state.usage()),
            ReplyFields.ErrorJson.of(state.error()),
            state.reasoning(),
            MessageJson.CallJson.of(state.toolCalls()),
            ReplyFields.PartJson.of(state.order()),
            state.options());
  }

  Reply.TurnState state() {
    return new Reply.TurnState(
        turn,
        turnStatus,
        branch,
        previousTurn,
        TimeUnit.SECONDS.toMillis(created),
        TimeUnit.SECONDS.toMillis(ReplyFields.orZero(completed)),
        metadata,
        MessageJson.messages(messages),
        text == null ? "" : text,
        logprobs == null ? null : logprobs.content(),
        finishReason,
        stopReason,
        usage == null ? null : ReplyFields.UsageJson.usage(usage),
        ReplyFields.ErrorJson.error(error),
        reasoningContent,
        MessageJson.CallJson.calls(toolCalls),
        ReplyFields.PartJson.order(parts),
        options);
  }
}
