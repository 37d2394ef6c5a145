package io.radixflow.engine.request;

import io.radixflow.engine.draft.Drafter;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.ReplyText;
import java.util.List;

/**
 * The reply of a request: sampling, text, end tokens, guide and drafter. The intake thread sets it
 * up; then it belongs to the engine thread.
 */
public final class RequestReply {
  private final TokenOptions options;
  private final RequestTokens tokens;
  private SamplingState sampling;
  private ReplyText text;
  private int[] ends;
  private PromptScores scores;
  private boolean promptOnly;
  private ReplyGuide guide;
  private Drafter drafter;
  private FinishReason resumedEnd;

  RequestReply(TokenOptions options, RequestTokens tokens) {
    this.options = options;
    this.tokens = tokens;
  }

  /**
   * Begins the reply.
   *
   * @param ends the tokens that end the reply
   * @param scores the log probabilities of the prompt; null if they were not requested
   * @param promptOnly whether the request wants no tokens, so that the token after the prompt is
   *     dropped
   */
  public void begin(
      SamplingState sampling, ReplyText text, int[] ends, PromptScores scores, boolean promptOnly) {
    this.sampling = sampling;
    this.text = text;
    this.ends = ends;
    this.scores = scores;
    this.promptOnly = promptOnly;
  }

  /** Notes why the reply ended in an earlier attempt. */
  public void endResumed(FinishReason reason) {
    resumedEnd = reason;
  }

  /** Sets the guide that constrains the reply, or null. */
  public void guide(ReplyGuide guide) {
    this.guide = guide;
  }

  public void draft(Drafter drafter) {
    this.drafter = drafter;
  }

  /** Sets the sampling back to its state before failed steps. */
  public void resample(SamplingState sampling) {
    this.sampling = sampling;
  }

  /** Called when the prompt has been scored; its pages may be cached from now on. */
  public void scored() {
    scores = null;
  }

  /**
   * Appends the text of the next token. A stop token has a text only if the reply shows its end.
   *
   * @return whether a stop string is complete
   */
  public boolean acceptText(int token) {
    boolean shown = options.includesStop() || !isStopToken(token);
    return shown && text.accept(token);
  }

  /** Returns whether the request itself named a token as an end. */
  private boolean isStopToken(int token) {
    List<Integer> stops = options.stopTokenIds();
    return stops != null && stops.contains(token);
  }

  /** Returns the stop token that ended the reply; null if none did. */
  public Integer stopToken() {
    if (tokens.replyLength() <= 0 || text.stop() != null) {
      return null;
    }
    int last = tokens.id(tokens.length() - 1);
    return isStopToken(last) ? last : null;
  }

  public boolean endsWith(int token) {
    for (int id : ends) {
      if (id == token) {
        return true;
      }
    }
    return false;
  }

  public int[] ends() {
    return ends;
  }

  public SamplingState sampling() {
    return sampling;
  }

  public ReplyText text() {
    return text;
  }

  /**
   * Returns the log probabilities of the prompt; null if they were not requested, or after the
   * prompt was scored.
   */
  public PromptScores scores() {
    return scores;
  }

  public boolean isPromptOnly() {
    return promptOnly;
  }

  /** Returns the guide that constrains the reply, or null. */
  public ReplyGuide guide() {
    return guide;
  }

  /** Returns the drafter of the reply; null if the reply has no drafts. */
  public Drafter drafter() {
    return drafter;
  }

  /** Returns why the reply ended in an earlier attempt; null if it did not. */
  public FinishReason resumedEnd() {
    return resumedEnd;
  }
}
