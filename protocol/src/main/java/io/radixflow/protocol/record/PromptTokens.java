package io.radixflow.protocol.record;

import java.util.ArrayList;
import java.util.List;

/**
 * Tokens of a prompt, as a reply or a delta shows them; a Flink POJO.
 *
 * @param offset tokens of the prompt before these
 * @param ids their ids
 * @param text what they spell, whole characters
 * @param logprobs one entry for each if asked for, else null. The first token of a prompt follows
 *     nothing: its log probability is not a number, and it has no alternatives
 */
public record PromptTokens(
    int offset, List<Integer> ids, String text, List<Reply.TokenLogprob> logprobs) {

  /** Returns pieces that follow each other as one; null for none. */
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
