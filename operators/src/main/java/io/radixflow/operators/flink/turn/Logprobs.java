package io.radixflow.operators.flink.turn;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Converts the engine's log probabilities to the form of a reply. */
final class Logprobs {
  private Logprobs() {}

  static List<Reply.TokenLogprob> of(List<ReplyProgress.TokenLogprob> tokens, Tokenizer tokenizer) {
    if (tokens.isEmpty()) {
      return List.of();
    }
    List<Reply.TokenLogprob> logprobs = new ArrayList<>(tokens.size());
    for (ReplyProgress.TokenLogprob token : tokens) {
      List<Reply.TopLogprob> top = new ArrayList<>(token.topIds().length);
      for (int i = 0; i < token.topIds().length; i++) {
        int id = token.topIds()[i];
        byte[] bytes = tokenizer.bytes(id);
        String text = text(bytes);
        top.add(new Reply.TopLogprob(id, text, token.topLogprobs()[i], lost(text, bytes)));
      }
      byte[] bytes = tokenizer.bytes(token.id());
      String text = text(bytes);
      logprobs.add(
          new Reply.TokenLogprob(token.id(), text, token.logprob(), top, lost(text, bytes)));
    }
    return logprobs;
  }

  /** Returns the entry of a prompt's first token, which follows nothing. */
  static Reply.TokenLogprob first(int id, Tokenizer tokenizer) {
    byte[] bytes = tokenizer.bytes(id);
    String text = text(bytes);
    return new Reply.TokenLogprob(id, text, Float.NaN, List.of(), lost(text, bytes));
  }

  /** Returns an entry in which special tokens have these texts. */
  static Reply.TokenLogprob named(Reply.TokenLogprob token, Map<Integer, String> specials) {
    List<Reply.TopLogprob> top =
        token.top().stream()
            .map(
                each ->
                    new Reply.TopLogprob(
                        each.id(),
                        specials.getOrDefault(each.id(), each.token()),
                        each.logprob(),
                        each.bytes()))
            .toList();
    return new Reply.TokenLogprob(
        token.id(),
        specials.getOrDefault(token.id(), token.token()),
        token.logprob(),
        top,
        token.bytes());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** Returns the bytes of a token whose text does not have them; null if it has. */
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
