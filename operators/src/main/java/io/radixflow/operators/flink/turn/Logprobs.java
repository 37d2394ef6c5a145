package io.radixflow.operators.flink.turn;

import io.radixflow.kernels.text.tokenizer.Tokenizer;
import io.radixflow.operators.engine.ReplyProgress;
import io.radixflow.operators.record.Reply;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Turns the engine's log probabilities into those of a reply. */
final class Logprobs {
  private Logprobs() {}

  static List<Reply.TokenLogprob> of(ReplyProgress progress, Tokenizer tokenizer) {
    if (progress.logprobs().isEmpty()) {
      return List.of();
    }
    List<Reply.TokenLogprob> logprobs = new ArrayList<>(progress.logprobs().size());
    for (ReplyProgress.TokenLogprob token : progress.logprobs()) {
      List<Reply.TopLogprob> top = new ArrayList<>(token.topIds().length);
      for (int i = 0; i < token.topIds().length; i++) {
        int id = token.topIds()[i];
        top.add(new Reply.TopLogprob(id, text(tokenizer, id), token.topLogprobs()[i]));
      }
      logprobs.add(
          new Reply.TokenLogprob(token.id(), text(tokenizer, token.id()), token.logprob(), top));
    }
    return logprobs;
  }

  private static String text(Tokenizer tokenizer, int id) {
    return new String(tokenizer.bytes(id), StandardCharsets.UTF_8);
  }
}
