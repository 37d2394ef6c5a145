package io.radixflow.operators.flink.turn.run;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Converts the engine's log probabilities to the form of a reply, in which special tokens have
 * their text. Immutable.
 */
final class Logprobs {
  private final Tokenizer tokenizer;
  private final Map<Integer, String> specials;

  Logprobs(Tokenizer tokenizer) {
    this.tokenizer = tokenizer;
    this.specials = tokenizer.specials();
  }

  Tokenizer tokenizer() {
    return tokenizer;
  }

  /** Returns the texts of the special tokens. */
  Map<Integer, String> specials() {
    return specials;
  }

  List<Reply.TokenLogprob> of(List<ReplyProgress.TokenLogprob> tokens) {
    if (tokens.isEmpty()) {
      return List.of();
    }
    List<Reply.TokenLogprob> logprobs = new ArrayList<>(tokens.size());
    for (ReplyProgress.TokenLogprob token : tokens) {
      List<Reply.TopLogprob> top = new ArrayList<>(token.topIds().length);
      for (int i = 0; i < token.topIds().length; i++) {
        int id = token.topIds()[i];
        byte[] bytes = tokenizer.bytes(id);
        String text = text(id, bytes);
        top.add(new Reply.TopLogprob(id, text, token.topLogprobs()[i], lost(text, bytes)));
      }
      logprobs.add(entry(token.id(), token.logprob(), top));
    }
    return logprobs;
  }

  /** Returns the entry of a prompt's first token, which has no log probability. */
  Reply.TokenLogprob first(int id) {
    return entry(id, Float.NaN, List.of());
  }

  private Reply.TokenLogprob entry(int id, float logprob, List<Reply.TopLogprob> top) {
    byte[] bytes = tokenizer.bytes(id);
    String text = text(id, bytes);
    return new Reply.TokenLogprob(id, text, logprob, top, lost(text, bytes));
  }

  private String text(int id, byte[] bytes) {
    return bytes.length == 0
        ? specials.getOrDefault(id, "")
        : new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Returns the bytes of a token that its text cannot represent; null if the text represents them.
   */
  private static List<Integer> lost(String text, byte[] bytes) {
    if (text.indexOf('\uFFFD') < 0 || Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
      return null;
    }
    List<Integer> values = new ArrayList<>(bytes.length);
    for (byte each : bytes) {
      values.add(each & 0xff);
    }
    return values;
  }
}
