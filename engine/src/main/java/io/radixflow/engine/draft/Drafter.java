package io.radixflow.engine.draft;

import io.radixflow.kernels.sampling.SamplingState;
import java.util.Arrays;
import java.util.function.ToIntFunction;

/**
 * The drafts of one request: guesses of the reply's next tokens. They are taken from its prompt,
 * its reply, texts that the reply may repeat, and the history and radix cache of its namespace.
 *
 * <p>An intake thread fills it with {@link #predict} and {@link #begin}; then the engine thread
 * owns it. {@link #append} takes constant time and allocates only when a text has doubled;
 * sometimes it reads the radix cache. A guess is a function of the request's tokens, its predicted
 * text, the history, the cache and the rates.
 */
public final class Drafter {
  /** The weight of the rates of all requests against the request's own rates, in guesses. */
  private static final double SHARED_WEIGHT = 6;

  /** After this number of guesses, older guesses count less. */
  private static final double REMEMBERED = 32;

  /** The beginning of a predicted text counts as a match of this length. */
  private static final int PREDICTION_MATCH = 12;

  private final TextIndex text;
  private final TextIndex[] ownTexts;
  private final SuffixMatches repeated = new SuffixMatches();
  private final HistoryMatches history;
  private final TreePath tree;
  private final DraftSource own;
  private final DraftSource[] sources;
  private final DraftRates shared;
  private final double[] right = new double[DraftRates.CLASSES];
  private final double[] guesses = new double[DraftRates.CLASSES];

  private final int[] tokens;
  private final double[] chances;
  private final SamplingState[] views;
  private SamplingState viewed;

  private int predictionTokens;
  private int foretold;

  /** Number of the latest drafts. */
  private int count;

  /** The chance of forced tokens when drafts were proposed; another thread may read it. */
  private double forcedChance;

  /** The token that the grammar was expected to force next; a separator if there is none. */
  private int forced = TextIndex.SEPARATOR;

  /**
   * @param shared rates of all requests
   * @param most drafts of a step
   * @param capacity number of tokens to have room for
   * @param history of other turns; used from the first {@link #append} on
   * @param tree tokens of the radix cache after the request; used from {@link #follow} on
   */
  Drafter(DraftRates shared, int most, int capacity, HistoryMatches history, TreePath tree) {
    this.shared = shared;
    this.history = history;
    this.tree = tree;
    text = new TextIndex(capacity);
    ownTexts = new TextIndex[] {text};
    own = new DraftSource(repeated, DraftRates.OWN);
    sources =
        new DraftSource[] {
          own, new DraftSource(tree, DraftRates.TREE), new DraftSource(history, DraftRates.HISTORY)
        };
    tokens = new int[most + 1];
    chances = new double[most + 1];
    views = new SamplingState[most];
  }

  /** Adds a text that the reply may repeat, or an empty one; before {@link #begin}. */
  public void predict(int[] ids) {
    predictionTokens = ids.length;
    for (int id : ids) {
      text.add(id);
    }
    text.add(TextIndex.SEPARATOR);
  }

  /**
   * Starts at the end of a sequence.
   *
   * @param length number of its tokens
   * @param promptLength number of tokens of the prompt
   */
  public void begin(int[] sequence, int length, int promptLength) {
    for (int i = 0; i < promptLength; i++) {
      text.add(sequence[i]);
    }
    if (predictionTokens > 0) {
      repeated.anchor(text, 0, PREDICTION_MATCH);
    } else {
      repeated.follow(text, ownTexts);
    }
    own.foresee();
    for (int i = promptLength; i < length; i++) {
      take(sequence[i]);
      own.foresee();
    }
  }

  /**
   * Starts following the radix cache when the request is admitted. Engine thread.
   *
   * @param copyNext fills the array with the tokens that the cache has after the request's current
   *     tokens, and returns their number; called immediately, and by {@link #append}
   */
  public void follow(ToIntFunction<int[]> copyNext) {
    tree.begin(copyNext);
    foresee();
  }

  /** Takes the reply's next token. Engine thread. */
  public void append(int token) {
    for (DraftSource source : sources) {
      if (source.guess() >= 0) {
        shared.add(source.guessClass(), source.guess() == token);
      }
    }
    if (forced >= 0) {
      shared.add(DraftRates.FORCED, forced == token);
      observe(DraftRates.FORCED, forced == token);
      forced = TextIndex.SEPARATOR;
    }
    take(token);
    history.follow(text);
    tree.follow(token);
    foresee();
  }

  private void take(int token) {
    for (DraftSource source : sources) {
      if (source.guess() >= 0) {
        observe(source.guessClass(), source.guess() == token);
      }
    }
    if (own.guess() == token && repeated.next(repeated.best()) < predictionTokens) {
      foretold++;
    }
    text.add(token);
    repeated.follow(text, ownTexts);
  }

  private void foresee() {
    for (DraftSource source : sources) {
      source.foresee();
    }
  }

  /** Returns how many tokens of the reply the predicted text gave. */
  public int foretold() {
    return foretold;
  }

  /** Returns the number of tokens of the predicted text. */
  public int predictionTokens() {
    return predictionTokens;
  }

  private void observe(int observed, boolean isRight) {
    if (guesses[observed] >= REMEMBERED) {
      guesses[observed] /= 2;
      right[observed] /= 2;
    }
    guesses[observed]++;
    right[observed] += isRight ? 1 : 0;
  }

  private double chance(int ofClass) {
    return (right[ofClass] + SHARED_WEIGHT * shared.of(ofClass))
        / (guesses[ofClass] + SHARED_WEIGHT);
  }

  /**
   * Makes drafts: the tokens that follow the longest match of the source with the likeliest guess.
   *
   * @param most the most drafts to make; at most one more than the drafter was made for
   * @return the number of drafts
   */
  public int propose(int most) {
    count = 0;
    forcedChance = chance(DraftRates.FORCED);
    DraftSource source = likeliest();
    source.restart();
    while (count < most) {
      int next = source.token(count);
      if (next < 0) {
        break;
      }
      put(next, chance(source.classOf(count, next)));
    }
    return count;
  }

  private DraftSource likeliest() {
    DraftSource best = own;
    for (DraftSource source : sources) {
      if (source.guess() >= 0
          && (best.guess() < 0 || chance(source.guessClass()) > chance(best.guessClass()))) {
        best = source;
      }
    }
    return best;
  }

  private void put(int token, double chance) {
    tokens[count] = token;
    chances[count++] = chance;
  }

  /** Returns how many drafts there are. */
  public int count() {
    return count;
  }

  /** Drops the drafts from {@code from} on. */
  void cut(int from) {
    count = Math.min(count, from);
  }

  /** Sets the draft at a position to a token that is right if all drafts before it are right. */
  void putCertain(int at, int token) {
    cut(at == count || tokens[at] != token ? at : count);
    if (at == count) {
      put(token, 1);
    }
    chances[at] = 1;
  }

  /** Adds tokens that a grammar forces, as far as there is room. */
  void addForced(int[] ids) {
    for (int i = 0; i < ids.length && count < tokens.length - 1; i++) {
      put(ids[i], forcedChance());
    }
  }

  /** Returns the chance that a token of a forced text is right. */
  double forcedChance() {
    return forcedChance;
  }

  /**
   * Notes the token that a grammar forces next, so that the rates can learn whether it was right.
   */
  void foreseeForced(int token) {
    forced = token;
  }

  /** Returns one of the latest drafts; they do not change while a step uses them. */
  public int token(int draft) {
    return tokens[draft];
  }

  /** Returns the chance that a draft is right if all drafts before it are right. */
  double chanceOf(int draft) {
    return chances[draft];
  }

  /**
   * Returns the sampling state of the row after a draft.
   *
   * @param state the request's
   * @param number of the view, from 0
   * @param count number of drafts before the row
   * @param replyTokens number of tokens of the reply before the drafts
   */
  public SamplingState view(SamplingState state, int number, int count, int replyTokens) {
    if (viewed != state) {
      Arrays.fill(views, null);
      viewed = state;
    }
    if (views[number] == null) {
      views[number] = state.draftView();
    }
    views[number].follow(tokens, count, replyTokens);
    return views[number];
  }
}
