package io.radixflow.gateway.turn;

import io.radixflow.jobs.client.TurnPart;
import io.radixflow.operators.record.PromptTokens;
import io.radixflow.operators.record.Reply.TokenLogprob;
import java.util.List;

/**
 * The next piece of a reply.
 *
 * @param offset code points of the reply before it, whatever part they belong to
 * @param part what the text belongs to
 * @param text whole characters; may be empty
 * @param tokens how many tokens it stands for
 * @param logprobs of the tokens, if the turn asked for them; else empty
 * @param prompt tokens of the prompt, if the turn asked for them; else null
 * @param ids of the tokens, if the turn asked for them; else empty
 */
public record TurnPiece(
    int offset,
    TurnPart part,
    String text,
    int tokens,
    List<TokenLogprob> logprobs,
    PromptTokens prompt,
    List<Integer> ids) {

  /** A piece without anything. */
  public static final TurnPiece NONE = new TurnPiece(0, "", 0);

  /** A piece without ids. */
  public TurnPiece(
      int offset, TurnPart part, String text, int tokens, List<TokenLogprob> logprobs) {
    this(offset, part, text, tokens, logprobs, null, List.of());
  }

  /** Returns whether it has anything to show. */
  public boolean shows() {
    return !text.isEmpty() || !logprobs.isEmpty() || prompt != null || !ids.isEmpty();
  }

  /** A piece of the content without log probabilities. */
  public TurnPiece(int offset, String text, int tokens) {
    this(offset, TurnPart.CONTENT, text, tokens, List.of());
  }
}
