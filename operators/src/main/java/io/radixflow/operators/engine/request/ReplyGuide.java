package io.radixflow.operators.engine.request;

import io.radixflow.kernels.grammar.GrammarMatcher;
import io.radixflow.kernels.grammar.regex.GrammarException;
import io.radixflow.kernels.sampling.TokenMask;
import io.radixflow.kernels.text.message.ReasoningTracker;
import java.util.Arrays;

/**
 * Holds one reply to a grammar, to a budget of reasoning, or to both: the mask of the tokens that
 * may come next. It is a pure function of these and the reply's ids, so it is made again by feeding
 * them.
 *
 * <p>With a grammar, {@link #accept} and {@link #prepare} may run on any thread, one at a time; the
 * engine thread owns the rest, and submits a step with the mask only while {@link #isReady}.
 * Without one the engine thread owns all of it, and they take no time.
 */
public final class ReplyGuide {
  private final GrammarMatcher matcher;
  private final ReasoningTracker reasoning;
  private final long[] mask;
  private boolean ready;
  private boolean masked;

  /**
   * @param matcher follows the grammar; null for none
   * @param reasoning follows the reasoning; null if that has no budget
   * @param vocabSize the model's, or the tokenizer's if that is larger
   */
  public ReplyGuide(GrammarMatcher matcher, ReasoningTracker reasoning, int vocabSize) {
    this.matcher = matcher;
    this.reasoning = reasoning;
    this.mask = new long[TokenMask.words(vocabSize)];
  }

  /** Returns whether masks take time, so that they are made on another thread. */
  public boolean isSlow() {
    return matcher != null;
  }

  /**
   * Takes the reply's next token.
   *
   * @throws GrammarException if the grammar does not allow it, or cannot be followed
   */
  public void accept(int token) {
    if (reasoning != null) {
      reasoning.accept(token);
    }
    if (matcher != null && !matcher.acceptToken(token)) {
      throw new GrammarException("grammar", "", "the grammar does not allow token " + token);
    }
  }

  /**
   * Makes the mask of the next token.
   *
   * @throws GrammarException if no token may come next, or the grammar cannot be followed
   */
  public void prepare() {
    boolean restricted = reasoning != null && reasoning.restricts();
    masked = matcher != null || restricted;
    if (!masked) {
      return;
    }
    if (matcher == null) {
      Arrays.fill(mask, -1);
    } else {
      matcher.mask(mask);
    }
    if (restricted) {
      reasoning.restrict(mask);
    }
    for (long word : mask) {
      if (word != 0) {
        return;
      }
    }
    throw new GrammarException(
        "vocabulary", "", "the vocabulary has no token that the grammar allows here");
  }

  /** Sets whether the mask is that of the next token. */
  public void setReady(boolean ready) {
    this.ready = ready;
  }

  public boolean isReady() {
    return ready;
  }

  /**
   * Returns whether a step that asks for a token must wait.
   *
   * @param pending tokens that steps in flight will give before that one
   */
  boolean awaits(int pending) {
    return matcher == null ? reasoning.dependsOn(pending) : pending > 0 || !ready;
  }

  /** Returns whether what may come after so many unknown tokens, or meanwhile, depends on them. */
  boolean dependsOn(int unknown) {
    return matcher != null || masked || reasoning.dependsOn(unknown);
  }

  /** Returns the mask, which does not change while a step uses it; null if any token may come. */
  public long[] mask() {
    return masked ? mask : null;
  }
}
