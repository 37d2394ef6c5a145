package io.radixflow.engine.draft;

import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.kernels.sampling.TokenMask;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The drafts of a reply that a grammar constrains: the drafts of its {@link Drafter} as far as the
 * grammar allows them, and tokens where the grammar leaves no choice. Each draft comes with the
 * mask of the token after it.
 *
 * <p>Made on the thread that follows the reply's grammar, while no other thread uses the drafter or
 * the masks; the engine thread reads them afterwards.
 */
public final class GrammarDrafts {
  /** The most forced bytes to request from a grammar. */
  private static final int FORCED_BYTES = 256;

  private static final int NONE_LEFT = -2;
  private static final int MANY_LEFT = -1;
  private static final int[] NO_TOKENS = {};

  private final GrammarMatcher matcher;
  private final Tokenizer tokenizer;
  private final int words;
  private final byte[] forced = new byte[FORCED_BYTES];
  private long[][] masks = {};

  /**
   * @param matcher the reply's matcher; each method leaves it at the position where it was
   * @param words number of longs in a mask
   */
  public GrammarDrafts(GrammarMatcher matcher, Tokenizer tokenizer, int words) {
    this.matcher = matcher;
    this.tokenizer = tokenizer;
    this.words = words;
  }

  /**
   * Makes drafts and their masks from the {@linkplain Drafter#propose proposals} of a drafter.
   *
   * @param next the mask of the reply's next token
   * @param most drafts
   */
  public void make(Drafter drafter, long[] next, int most) {
    int made = 0;
    matcher.mark();
    try {
      begin(drafter);
      long[] mask = next;
      while (made < most && follow(drafter, made, mask)) {
        mask = maskFor(made);
        matcher.mask(mask);
        if (onlyOf(mask) == NONE_LEFT) {
          break; // the previous token would end the reply in error, so it gets its own step
        }
        made++;
      }
    } catch (GrammarException e) { // the reply itself may never reach this limit
    } finally {
      drafter.cut(made);
      matcher.rewind();
    }
  }

  /** Replaces the first draft by the forced token if that token is more likely to be right. */
  private void begin(Drafter drafter) {
    int[] tokens = forcedTokens();
    drafter.foreseeForced(tokens.length > 0 ? tokens[0] : TextIndex.SEPARATOR);
    if (tokens.length > 0
        && (drafter.count() == 0 || drafter.chanceOf(0) < drafter.forcedChance())) {
      drafter.cut(0);
      drafter.addForced(tokens);
    }
  }

  /** Accepts the next draft; false if no token may follow it. */
  private boolean follow(Drafter drafter, int at, long[] mask) {
    int only = onlyOf(mask);
    if (only >= 0) {
      drafter.putCertain(at, only);
    } else if (at == drafter.count() || !TokenMask.allows(mask, drafter.token(at))) {
      drafter.cut(at);
      drafter.addForced(forcedTokens());
    }
    return at < drafter.count()
        && TokenMask.allows(mask, drafter.token(at))
        && matcher.acceptToken(drafter.token(at))
        && !matcher.hasEnded();
  }

  /** Returns the tokens of the forced text; they end at the end of a character. */
  private int[] forcedTokens() {
    int length = matcher.forcedText(forced);
    while (length > 0 && length == FORCED_BYTES && (forced[length - 1] & 0x80) != 0) {
      length--; // the last character may be incomplete
    }
    if (length == 0 || (forced[0] & 0xC0) == 0x80) {
      return NO_TOKENS;
    }
    return tokenizer.encode(new String(forced, 0, length, StandardCharsets.UTF_8));
  }

  private long[] maskFor(int draft) {
    if (draft == masks.length) {
      masks = Arrays.copyOf(masks, draft + 1);
      masks[draft] = new long[words];
    }
    return masks[draft];
  }

  /** Returns the mask of the token after a draft; valid until new drafts are made. */
  public long[] mask(int draft) {
    return masks[draft];
  }

  /** Returns the only token of a mask, {@code NONE_LEFT} or {@code MANY_LEFT}. */
  private static int onlyOf(long[] mask) {
    int only = NONE_LEFT;
    for (int word = 0; word < mask.length; word++) {
      if (mask[word] != 0) {
        if (only != NONE_LEFT || Long.bitCount(mask[word]) > 1) {
          return MANY_LEFT;
        }
        only = word * Long.SIZE + Long.numberOfTrailingZeros(mask[word]);
      }
    }
    return only;
  }
}
