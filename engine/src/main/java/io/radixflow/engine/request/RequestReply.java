package io.radixflow.engine.request;

import io.radixflow.engine.draft.Drafter;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.ReplyText;
import java.util.List;

/**
 * How the reply of a request is made: its sampling, its text, its ends, and what guides or guesses
 * its next tokens. The intake thread sets it up; then it belongs to the engine thread.
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
   * @param ends the tokens that end it
   * @param scores the log probabilities of the prompt; null if they were not requested
   * @param promptOnly whether no token is to be generated: the token after the prompt is dropped
   */
  public void begin(
      SamplingState sampling, ReplyText text, int[] ends, PromptScores scores, boolean promptOnly) {
    this.sampling = sampling;
    this.text = text;
    this.ends = ends;
    this.scores = scores;
    this.promptOnly = promptOnly;
  }

  /** Notes how the tokens of an earlier attempt have ended the reply already. */
  public void endResumed(FinishReason reason) {
    resumedEnd = reason;
  }

  /** Sets what holds the reply to a grammar, a budget of reasoning or token rules; or null. */
  public void guide(ReplyGuide guide) {
    this.guide = guide;
  }

  /** Sets what guesses the reply's next tokens. */
  public void draft(Drafter drafter) {
    this.drafter = drafter;
  }

  /** Sets the sampling as it was before steps that failed. */
  public void resample(SamplingState sampling) {
    this.sampling = sampling;
  }

  /** The prompt has been scored: from here on its pages may be cached. */
  public void scored() {
    scores = null;
  }

  /**
   * Takes the text of its next token, which a stop token has only if the reply shows what ends it.
   *
   * @return whether a stop string is complete
   */
  public boolean acceptText(int token) {
    boolean shown = options.includesStop() || !isStopToken(token);
    return shown && text.accept(token);
  }

  /** Returns whether a token is one that the request itself named as an end. */
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

  /** Returns whether a token ends the reply. */
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

  /** Returns the log probabilities of the prompt; null if none are wanted, or once it is scored. */
  public PromptScores scores() {
    return scores;
  }

  public boolean isPromptOnly() {
    return promptOnly;
  }

  /** Returns what holds the reply to a grammar, a budget of reasoning or token rules; or null. */
  public ReplyGuide guide() {
    return guide;
  }

  /** Returns what guesses the reply's next tokens; null if no step runs ahead of it. */
  public Drafter drafter() {
    return drafter;
  }

  /** Returns how an earlier attempt has ended the reply; null if it has not. */
  public FinishReason resumedEnd() {
    return resumedEnd;
  }
}
