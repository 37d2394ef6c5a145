package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.engine.ReplyProgress;
import io.radixflow.engine.ReplyProgress.TokenLogprob;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Collects the progress of one reply. */
final class GeneratedReply {
  private final List<TokenLogprob> logprobs = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();
  private int[] prompt = {};
  private int[] ids = {};
  private ReplyProgress last;

  void prompt(int[] tokens) {
    prompt = tokens;
  }

  /** Adds progress; returns whether the reply has ended. */
  boolean add(ReplyProgress progress) {
    int[] tokens = progress.tokens();
    int length = ids.length;
    ids = Arrays.copyOf(ids, length + tokens.length);
    System.arraycopy(tokens, 0, ids, length, tokens.length);
    text.append(progress.text());
    logprobs.addAll(progress.logprobs());
    last = progress;
    return progress.finish() != null;
  }

  int[] prompt() {
    return prompt;
  }

  int[] ids() {
    return ids;
  }

  String text() {
    return text.toString();
  }

  Usage usage() {
    return last.usage();
  }

  /** The reason why the reply is missing, or null if it is not. */
  String error() {
    boolean failed = last.finish() == FinishReason.ERROR || last.finish() == FinishReason.REJECTED;
    return failed ? last.finish().wireName() + ": " + last.error() : null;
  }

  ObjectNode toJson() {
    ObjectNode json = JsonLineOutput.object();
    json.set("ids", JsonLineOutput.array(ids));
    json.put("text", text());
    json.put("finish_reason", last.finish().wireName());
    Usage usage = last.usage();
    ObjectNode counts = json.putObject("usage");
    counts.put("prompt_tokens", usage.promptTokens());
    counts.put("completion_tokens", usage.completionTokens());
    counts.put("total_tokens", usage.promptTokens() + usage.completionTokens());
    counts.putObject("prompt_tokens_details").put("cached_tokens", usage.cachedTokens());
    if (!logprobs.isEmpty()) {
      ArrayNode entries = json.putArray("logprobs");
      logprobs.forEach(entry -> putLogprob(entries.addObject(), entry));
    }
    return json;
  }

  private static void putLogprob(ObjectNode json, TokenLogprob entry) {
    json.put("id", entry.id()).put("logprob", entry.logprob());
    ArrayNode top = json.putArray("top");
    for (int i = 0; i < entry.topIds().length; i++) {
      top.addArray().add(entry.topIds()[i]).add(entry.topLogprobs()[i]);
    }
  }
}
