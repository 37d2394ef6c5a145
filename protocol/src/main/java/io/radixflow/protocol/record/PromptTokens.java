package io.radixflow.protocol.record;

import java.util.ArrayList;
import java.util.List;

/**
 * Tokens of a prompt, as a reply or a delta shows them; a Flink POJO.
 *
 * @param offset tokens of the prompt before these
 * @param ids their ids
 * @param text their text, in whole characters
 * @param logprobs one entry for each token if requested, else null. The first token of a prompt has
 *     no predecessor: its log probability is NaN, and it has no alternatives
 */
public record PromptTokens(
    int offset, List<Integer> ids, String text, List<Reply.TokenLogprob> logprobs) {

  /** Joins consecutive pieces; returns null for no pieces. */
  public static PromptTokens joined(List<PromptTokens> pieces) {
    if (pieces.isEmpty()) {
      return null;
    }
    List<Integer> ids = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    List<Reply.TokenLogprob> logprobs = pieces.get(0).logprobs == null ? null : new ArrayList<>();
    for (PromptTokens piece : pieces) {
      ids.addAll(piece.ids);
      text.append(piece.text);
      if (logprobs != null && piece.logprobs != null) {
        logprobs.addAll(piece.logprobs);
      }
    }
    return new PromptTokens(pieces.get(0).offset, ids, text.toString(), logprobs);
  }
}
