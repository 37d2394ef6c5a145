package io.radixflow.engine.request;

import io.radixflow.engine.draft.Drafter;
import io.radixflow.engine.draft.GrammarDrafts;
import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.kernels.sampling.TokenMask;
import io.radixflow.text.reply.ReasoningTracker;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;

/**
 * Constrains one reply by a grammar, a budget of reasoning, rules for its tokens, or several of
 * these. It computes the mask of the tokens that may come next. The mask is a pure function of the
 * constraints and the reply's ids, so a new guide reaches the same state from the same ids.
 *
 * <p>With a grammar, {@link #accept}, {@link #prepare} and {@link #prepareDrafts} may run on any
 * thread, one at a time. The engine thread owns the rest, and submits a step with the mask only
 * while {@link #isReady}. Without a grammar these methods are fast and the engine thread owns
 * everything.
 */
public final class ReplyGuide {
  private final GrammarMatcher matcher;
  private final ReasoningTracker reasoning;
  private final TokenRules rules;

  /** Number of accepted tokens of the reply; rules look at the last tokens. */
  private int accepted;

  private final int[] last;
  private int lastCount;
  private final GrammarDrafts drafts;
  private final long[] mask;
  private int draftCount;
  private boolean ready;
  private boolean masked;

  /**
   * @param matcher follows the grammar; null for none
   * @param reasoning follows the reasoning; null for reasoning without a budget
   * @param rules for single tokens; null for none
   * @param tokenizer splits text that the grammar forces
   * @param vocabSize the larger vocabulary size of model and tokenizer
   */
  public ReplyGuide(
      GrammarMatcher matcher,
      ReasoningTracker reasoning,
      TokenRules rules,
      Tokenizer tokenizer,
      int vocabSize) {
    this.rules = rules;
    this.last = new int[rules == null ? 0 : rules.memory()];
    this.matcher = matcher;
    this.reasoning = reasoning;
    this.mask = new long[TokenMask.words(vocabSize)];
    this.drafts = matcher == null ? null : new GrammarDrafts(matcher, tokenizer, mask.length);
  }

  /** Returns the requested constraints that the grammar cannot enforce; may be empty. */
  public List<String> notices() {
    return matcher == null ? List.of() : matcher.notices();
  }

  /** Returns whether masks take time, so that another thread must make them. */
  public boolean isSlow() {
    return matcher != null;
  }

  /**
   * Takes the reply's next token.
   *
   * @throws GrammarException if the grammar does not allow it, or cannot be followed
   */
  public void accept(int token) {
    accepted++;
    remember(token);
    if (reasoning != null) {
      reasoning.accept(token);
    }
    if (matcher != null && !matcher.acceptToken(token)) {
      throw new GrammarException("grammar", "", "the grammar does not allow token " + token);
    }
  }

  private void remember(int token) {
    if (last.length == 0) {
      return;
    }
    if (lastCount == last.length) {
      System.arraycopy(last, 1, last, 0, --lastCount);
    }
    last[lastCount++] = token;
  }

  /**
   * Makes the mask of the next token, unless the mask depends on the position only.
   *
   * @throws GrammarException if no token may come next, or the grammar cannot be followed
   */
  public void prepare() {
    boolean restricted = reasoning != null && reasoning.restricts();
    boolean banned = rules != null && rules.bans(last, lastCount);
    masked = matcher != null || restricted || banned;
    draftCount = 0;
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
    if (rules != null) {
      rules.restrict(mask, accepted, last, lastCount);
    }
    for (long word : mask) {
      if (word != 0) {
        return;
      }
    }
    throw new GrammarException(
        "vocabulary",
        "",
        rules == null
            ? "the vocabulary has no token that the grammar allows here"
            : "min_tokens, allowed_token_ids and bad_words leave no token that may come here");
  }

  /**
   * Keeps a drafter's proposals that the grammar allows, and makes the masks after them. Call it
   * after {@link #prepare}. There are no drafts at positions where a reasoning budget may end or
   * rules for single tokens apply.
   *
   * @param drafter the reply's drafter; no other thread uses it until the guide is ready
   * @param most the most drafts to keep
   */
  public void prepareDrafts(Drafter drafter, int most) {
    boolean free =
        (reasoning == null || !reasoning.restricts() && !reasoning.dependsOn(most))
            && (rules == null || !rules.restrictsFrom(accepted));
    if (free) {
      drafts.make(drafter, mask, most);
    }
    draftCount = free ? drafter.count() : 0;
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
   * @param pending tokens that steps in flight will give before that token
   */
  boolean awaits(int pending) {
    if (matcher != null) {
      return pending > 0 || !ready;
    }
    return reasoning != null && reasoning.dependsOn(pending) || last.length > 0 && pending > 0;
  }

  /**
   * Returns how many drafts may be verified.
   *
   * @param pending tokens of steps in flight
   * @param most drafts for which there is room
   */
  int mostDrafts(int pending, int most) {
    if (matcher != null) {
      return Math.min(most, draftCount);
    }
    boolean depends = reasoning != null && reasoning.dependsOn(pending + most);
    return masked || depends || last.length > 0 ? 0 : most;
  }

  /**
   * Returns the mask of the token after a draft; null if any token may come.
   *
   * @param pending tokens of steps in flight
   */
  public long[] mask(int pending, int draft) {
    return matcher == null ? byPosition(pending + 1 + draft) : drafts.mask(draft);
  }

  /**
   * Returns the mask of the next token; null if any token may come. It does not change while a step
   * uses it.
   *
   * @param pending tokens of steps in flight
   */
  public long[] mask(int pending) {
    return masked ? mask : byPosition(pending);
  }

  private long[] byPosition(int ahead) {
    return rules == null ? null : rules.mask(accepted + ahead);
  }
}
