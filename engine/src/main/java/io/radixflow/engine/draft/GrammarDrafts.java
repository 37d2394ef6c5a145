package io.radixflow.engine.draft;

import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.kernels.sampling.TokenMask;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The drafts of a reply that a grammar constrains: the drafts of its {@link Drafter} as far as the
 * grammar allows them, and tokens where the grammar leaves no choice. Each draft has the mask of
 * the token after it.
 *
 * <p>Made on the thread that follows the reply's grammar, while no other uses the drafter or the
 * masks; the engine thread reads them afterwards.
 */
public final class GrammarDrafts {
  /** The most bytes that a grammar is asked to decide ahead. */
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
   * @param matcher the reply's; it is where it was after each method
   * @param words of a mask
   */
  public GrammarDrafts(GrammarMatcher matcher, Tokenizer tokenizer, int words) {
    this.matcher = matcher;
    this.tokenizer = tokenizer;
    this.words = words;
  }

  /**
   * Makes drafts from the tokens that a drafter {@linkplain Drafter#propose proposes}, and their
   * masks.
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
          break; // the token before would end the reply in error, so it is left to a step of its
          // own
        }
        made++;
      }
    } catch (GrammarException e) { // a limit that the reply itself may never reach
    } finally {
      drafter.cut(made);
      matcher.rewind();
    }
  }

  /** Lets the grammar begin where it is likelier to be right than what the texts say. */
  private void begin(Drafter drafter) {
    int[] tokens = forcedTokens();
    drafter.foreseeForced(tokens.length > 0 ? tokens[0] : TextIndex.SEPARATOR);
    if (tokens.length > 0
        && (drafter.count() == 0 || drafter.chanceOf(0) < drafter.forcedChance())) {
      drafter.cut(0);
      drafter.addForced(tokens);
    }
  }

  /** Takes the next draft; false if there is none behind which a token may come. */
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

  /** The tokens of the text that the grammar leaves no choice about; none inside a character. */
  private int[] forcedTokens() {
    int length = matcher.forcedText(forced);
    while (length > 0 && length == FORCED_BYTES && (forced[length - 1] & 0x80) != 0) {
      length--; // a character may be cut
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

  /** Returns the mask of the token behind a draft; unchanged until drafts are made again. */
  public long[] mask(int draft) {
    return masks[draft];
  }

  /** Returns the only token of a mask, or how many there are otherwise. */
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
