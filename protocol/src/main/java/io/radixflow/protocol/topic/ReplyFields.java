package io.radixflow.protocol.topic;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.radixflow.protocol.event.EventFields;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.protocol.record.kv.TierUsage;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The JSON object of a reply, in the form of {@code schema/reply.schema.json}. Null fields are left
 * out; times are seconds since the epoch.
 */
record ReplyFields(
    String session,
    String branch,
    String turn,
    String type,
    long attempt,
    long created,
    List<Choice> choices,
    UsageJson usage,
    long seed,
    int droppedTurns,
    ErrorJson error,
    List<MessageJson.ItemJson> items,
    String status,
    Map<String, String> metadata,
    TurnStateFields turnState,
    PagesJson pages,
    List<String> warnings,
    List<String> truncated) {

  record Choice(
      int index,
      MessageJson message,
      List<PartJson> parts,
      String finishReason,
      String stopReason,
      Logprobs logprobs,
      Integer stopToken,
      List<Integer> tokenIds,
      PromptTokens prompt) {
    Message said() {
      return message == null ? new Message("assistant", "") : message.message();
    }
  }

  /** A run of a reply's text; kind and index are left out for content. */
  record PartJson(String kind, Integer index, int length) {

    /** Returns null for no runs. */
    static List<PartJson> of(List<PartLength> order) {
      return order.isEmpty() ? null : order.stream().map(PartJson::of).toList();
    }

    private static PartJson of(PartLength run) {
      return new PartJson(
          run.kind() == null ? null : run.kind().name().toLowerCase(Locale.ROOT),
          run.index() < 0 ? null : run.index(),
          run.length());
    }

    /**
     * @throws IllegalArgumentException if a kind is unknown
     */
    static List<PartLength> order(List<PartJson> parts) {
      return parts == null ? List.of() : parts.stream().map(PartJson::run).toList();
    }

    private PartLength run() {
      ReplyDelta.Kind of =
          kind == null ? null : ReplyDelta.Kind.valueOf(kind.toUpperCase(Locale.ROOT));
      return new PartLength(of, index == null ? -1 : index, length);
    }
  }

  record Logprobs(List<Reply.TokenLogprob> content) {}

  /** Renames the alternatives of a {@link Reply.TokenLogprob}. */
  interface TokenNames {
    @JsonProperty("top_logprobs")
    List<Reply.TopLogprob> top();
  }

  record ErrorJson(String code, String message, Integer promptTokens, Integer contextWindow) {
    static ErrorJson of(ReplyError error) {
      return error == null
          ? null
          : new ErrorJson(
              error.code().name().toLowerCase(Locale.ROOT),
              error.message(),
              error.contextWindow() == 0 ? null : error.promptTokens(),
              error.contextWindow() == 0 ? null : error.contextWindow());
    }

    /**
     * @throws IllegalArgumentException if the code is unknown
     */
    static ReplyError error(ErrorJson json) {
      return json == null
          ? null
          : new ReplyError(
              json.code == null
                  ? ErrorCode.FAILED
                  : ErrorCode.valueOf(json.code.toUpperCase(Locale.ROOT)),
              json.message,
              (int) orZero(json.promptTokens),
              (int) orZero(json.contextWindow));
    }
  }

  record UsageJson(
      int promptTokens,
      int completionTokens,
      long totalTokens,
      Details promptTokensDetails,
      Generated completionTokensDetails) {

    /** Counts of 0 are null. */
    record Generated(
        Integer reasoningTokens,
        Integer acceptedPredictionTokens,
        Integer rejectedPredictionTokens) {
      private static final Generated NONE = new Generated(null, null, null);

      static Generated of(Usage usage) {
        Generated counts =
            new Generated(
                nullIfZero(usage.reasoningTokens()),
                nullIfZero(usage.acceptedPredictionTokens()),
                nullIfZero(usage.rejectedPredictionTokens()));
        return counts.equals(NONE) ? null : counts;
      }

      private static Integer nullIfZero(int count) {
        return count == 0 ? null : count;
      }
    }

    /** All fields except the first are null, unless pages came from a tier below the device. */
    record Details(
        int cachedTokens,
        Integer cachedHostTokens,
        Integer cachedDiskTokens,
        Integer cachedRemoteTokens,
        Long tierMicros) {}

    static UsageJson of(Usage usage) {
      TierUsage tiers = usage.tiers();
      return new UsageJson(
          usage.promptTokens(),
          usage.completionTokens(),
          (long) usage.promptTokens() + usage.completionTokens(),
          tiers.isNone()
              ? new Details(usage.cachedTokens(), null, null, null, null)
              : new Details(
                  usage.cachedTokens(),
                  tiers.hostTokens(),
                  tiers.diskTokens(),
                  tiers.remoteTokens(),
                  tiers.micros()),
          Generated.of(usage));
    }

    static Usage usage(UsageJson json) {
      if (json == null) {
        return Usage.NONE;
      }
      Details details =
          json.promptTokensDetails == null
              ? new Details(0, null, null, null, null)
              : json.promptTokensDetails;
      TierUsage tiers =
          details.tierMicros == null
              ? TierUsage.NONE
              : new TierUsage(
                  (int) orZero(details.cachedHostTokens),
                  (int) orZero(details.cachedDiskTokens),
                  (int) orZero(details.cachedRemoteTokens),
                  details.tierMicros);
      Generated generated =
          json.completionTokensDetails == null ? Generated.NONE : json.completionTokensDetails;
      return new Usage(
          json.promptTokens,
          details.cachedTokens,
          json.completionTokens,
          tiers,
          (int) orZero(generated.reasoningTokens),
          (int) orZero(generated.acceptedPredictionTokens),
          (int) orZero(generated.rejectedPredictionTokens));
    }
  }

  record PagesJson(
      int committedTokens,
      int deviceTokens,
      int hostTokens,
      int diskTokens,
      int remoteTokens,
      Long lastUsed,
      Long asOf) {

    static PagesJson of(Reply.Pages pages) {
      TierTokens tokens = pages.tokens();
      return new PagesJson(
          pages.committedTokens(),
          tokens.device(),
          tokens.host(),
          tokens.disk(),
          tokens.remote(),
          pages.lastUsed() > 0 ? toSeconds(pages.lastUsed()) : null,
          pages.asOf() > 0 ? toSeconds(pages.asOf()) : null);
    }

    Reply.Pages pages() {
      return new Reply.Pages(
          committedTokens,
          new TierTokens(deviceTokens, hostTokens, diskTokens, remoteTokens),
          TimeUnit.SECONDS.toMillis(orZero(lastUsed)),
          TimeUnit.SECONDS.toMillis(orZero(asOf)));
    }
  }

  /**
   * @param truncated names of the fields that the reply lost because of its size; null for none
   */
  static ReplyFields of(Reply reply, List<String> truncated) {
    Logprobs logprobs = reply.logprobs() == null ? null : new Logprobs(reply.logprobs());
    return new ReplyFields(
        reply.session(),
        reply.branch(),
        reply.turn(),
        EventFields.type(reply.kind()),
        reply.attempt(),
        toSeconds(reply.created()),
        List.of(
            new Choice(
                0,
                MessageJson.of(reply.message()),
                PartJson.of(reply.order()),
                reply.finishReason(),
                reply.stopReason(),
                logprobs,
                reply.stopToken(),
                reply.tokenIds(),
                reply.prompt())),
        UsageJson.of(reply.usage()),
        reply.seed(),
        reply.droppedTurns(),
        ErrorJson.of(reply.error()),
        MessageJson.ItemJson.of(reply.items()),
        reply.status(),
        reply.metadata(),
        TurnStateFields.of(reply.turnState()),
        reply.pages() == null ? null : PagesJson.of(reply.pages()),
        reply.warnings(),
        truncated);
  }

  /**
   * Returns the reply; a missing field has its default.
   *
   * @throws IllegalArgumentException if the type or the error code is unknown
   */
  Reply reply() {
    boolean none = choices == null || choices.isEmpty() || choices.get(0) == null;
    Choice choice =
        none ? new Choice(0, null, null, null, null, null, null, null, null) : choices.get(0);
    return Reply.builder(session, branch, turn, EventFields.kind(type))
        .attempt(attempt)
        .message(choice.said())
        .order(PartJson.order(choice.parts))
        .finishReason(choice.finishReason)
        .stopReason(choice.stopReason)
        .usage(UsageJson.usage(usage))
        .seed(seed)
        .droppedTurns(droppedTurns)
        .logprobs(choice.logprobs == null ? null : choice.logprobs.content)
        .stopToken(choice.stopToken)
        .tokenIds(choice.tokenIds)
        .prompt(choice.prompt)
        .error(ErrorJson.error(error))
        .items(MessageJson.ItemJson.items(items))
        .status(status)
        .created(TimeUnit.SECONDS.toMillis(created))
        .metadata(metadata)
        .turnState(turnState == null ? null : turnState.state())
        .pages(pages == null ? null : pages.pages())
        .warnings(warnings)
        .build();
  }

  static long toSeconds(long millis) {
    return TimeUnit.MILLISECONDS.toSeconds(millis);
  }

  static long orZero(Number value) {
    return value == null ? 0 : value.longValue();
  }
}
