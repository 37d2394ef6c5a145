package io.radixflow.gateway.turn;

import io.radixflow.client.TurnPart;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import java.util.List;

/**
 * The next piece of a reply.
 *
 * @param offset code points of the reply before this piece, in all parts
 * @param part the part of the text
 * @param text whole characters; may be empty
 * @param tokens the number of tokens of the piece
 * @param logprobs log probabilities of the tokens, if the turn asked for them; else empty
 * @param prompt tokens of the prompt, if the turn asked for them; else null
 * @param ids ids of the tokens, if the turn asked for them; else empty
 */
public record TurnPiece(
    int offset,
    TurnPart part,
    String text,
    int tokens,
    List<TokenLogprob> logprobs,
    PromptTokens prompt,
    List<Integer> ids) {

  /** An empty piece. */
  public static final TurnPiece NONE = new TurnPiece(0, "", 0);

  /** A piece without ids. */
  public TurnPiece(
      int offset, TurnPart part, String text, int tokens, List<TokenLogprob> logprobs) {
    this(offset, part, text, tokens, logprobs, null, List.of());
  }

  /** Returns whether the piece has any content. */
  public boolean shows() {
    return !text.isEmpty() || !logprobs.isEmpty() || prompt != null || !ids.isEmpty();
  }

  /** A piece of the content without log probabilities. */
  public TurnPiece(int offset, String text, int tokens) {
    this(offset, TurnPart.CONTENT, text, tokens, List.of());
  }
}
