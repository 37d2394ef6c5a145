package io.radixflow.operators.flink.turn.run;

import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.ReplyText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Cuts the tokens of a prompt into pieces that fit into deltas. Special tokens have their text. */
final class PromptPieces {
  /** The most entries of a piece, including alternatives; about a quarter of a megabyte. */
  private static final int ENTRIES = 2048;

  private PromptPieces() {}

  /**
   * @param scores one entry for each token except the first; empty if not requested
   */
  static List<PromptTokens> of(
      int[] ids, TokenOptions options, List<Reply.TokenLogprob> scores, Logprobs logprobs) {
    boolean scored = options.promptLogprobs() != null;
    int size = ENTRIES / (1 + (scored ? options.promptLogprobs() : 0));
    ReplyText text = new ReplyText(logprobs.tokenizer(), List.of(), logprobs.specials());
    List<PromptTokens> pieces = new ArrayList<>();
    for (int from = 0; from < ids.length; from += size) {
      int end = Math.min(ids.length, from + size);
      for (int i = from; i < end; i++) {
        text.accept(ids[i]);
      }
      if (end == ids.length) {
        text.finish();
      }
      pieces.add(
          new PromptTokens(
              from,
              Arrays.stream(ids, from, end).boxed().toList(),
              text.take(),
              scored ? entries(ids, from, end, scores, logprobs) : null));
    }
    return pieces;
  }

  private static List<Reply.TokenLogprob> entries(
      int[] ids, int from, int end, List<Reply.TokenLogprob> scores, Logprobs logprobs) {
    List<Reply.TokenLogprob> entries = new ArrayList<>(end - from);
    for (int i = from; i < end; i++) {
      entries.add(i == 0 ? logprobs.first(ids[0]) : scores.get(i - 1));
    }
    return entries;
  }
}
