package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;

/** Writes token counts with the field names of each API. */
public final class UsageJson {

  private static final String PROMPT = "prompt_tokens";
  private static final String COMPLETION = "completion_tokens";

  private UsageJson() {}

  /** Returns the counts of completions. */
  public static ObjectNode ofCompletion(Usage usage) {
    ObjectNode json = of(usage, PROMPT, COMPLETION);
    json.withObject("/completion_tokens_details")
        .put("accepted_prediction_tokens", usage.acceptedPredictionTokens())
        .put("rejected_prediction_tokens", usage.rejectedPredictionTokens());
    return json;
  }

  /** Returns the counts of an unfinished completion. */
  public static ObjectNode ofCompletion(int prompt, int reply) {
    return totals(PROMPT, prompt, COMPLETION, reply);
  }

  /** Returns the counts of a response. */
  public static ObjectNode ofResponse(Usage usage) {
    ObjectNode json = of(usage, "input_tokens", "output_tokens");
    json.withObject("/input_tokens_details")
        .put("cache_write_tokens", usage.promptTokens() - usage.cachedTokens());
    return json;
  }

  /**
   * Returns the counts of a message.
   *
   * @param cacheControl whether tokens that were not cached count as written to the cache
   */
  public static ObjectNode ofMessage(Usage usage, boolean cacheControl) {
    int rest = usage.promptTokens() - usage.cachedTokens();
    return Json.object()
        .put("input_tokens", cacheControl ? 0 : rest)
        .put("cache_creation_input_tokens", cacheControl ? rest : 0)
        .put("cache_read_input_tokens", usage.cachedTokens())
        .put("output_tokens", usage.completionTokens());
  }

  private static ObjectNode totals(String prompt, int asked, String reply, int made) {
    return Json.object().put(prompt, asked).put(reply, made).put("total_tokens", asked + made);
  }

  private static ObjectNode of(Usage usage, String prompt, String reply) {
    ObjectNode json = totals(prompt, usage.promptTokens(), reply, usage.completionTokens());
    ObjectNode details = json.putObject(prompt + "_details");
    details.put("cached_tokens", usage.cachedTokens());
    TierUsage tiers = usage.tiers();
    if (!tiers.isNone()) {
      details.put("cached_host_tokens", tiers.hostTokens());
      details.put("cached_disk_tokens", tiers.diskTokens());
      details.put("cached_remote_tokens", tiers.remoteTokens());
    }
    json.putObject(reply + "_details").put("reasoning_tokens", usage.reasoningTokens());
    return json;
  }
}
