package io.radixflow.operators.engine.request;

import io.radixflow.kernels.grammar.GrammarMatcher;
import io.radixflow.kernels.grammar.regex.GrammarException;
import io.radixflow.kernels.sampling.TokenMask;

/**
 * Holds one reply to a grammar: the mask of the tokens that may come next. It is a pure function of
 * the grammar and the reply's ids, so it is made again by feeding them.
 *
 * <p>{@link #accept} and {@link #prepare} may run on any thread, one at a time; the engine thread
 * owns the rest, and submits a step with the mask only while {@link #isReady}.
 */
public final class ReplyGuide {
  private final GrammarMatcher matcher;
  private final long[] mask;
  private boolean ready;

  /**
   * @param vocabSize the model's, or the tokenizer's if that is larger
   */
  public ReplyGuide(GrammarMatcher matcher, int vocabSize) {
    this.matcher = matcher;
    this.mask = new long[TokenMask.words(vocabSize)];
  }

  /**
   * Takes the reply's next token.
   *
   * @throws GrammarException if the grammar does not allow it, or cannot be followed
   */
  public void accept(int token) {
    if (!matcher.acceptToken(token)) {
      throw new GrammarException("grammar", "", "the grammar does not allow token " + token);
    }
  }

  /**
   * Makes the mask of the next token.
   *
   * @throws GrammarException if no token may come next, or the grammar cannot be followed
   */
  public void prepare() {
    matcher.mask(mask);
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

  /** Returns the mask, which does not change while a step uses it. */
  public long[] mask() {
    return mask;
  }
}
