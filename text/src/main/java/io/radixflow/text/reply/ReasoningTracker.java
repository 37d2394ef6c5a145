package io.radixflow.text.reply;

import io.radixflow.text.reply.json.Scan;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Follows the ids of one reply through its reasoning. It counts the reasoning tokens and restricts
 * the next token once the budget is used up. The state is a pure function of the ids so far, so a
 * reply that continues elsewhere can feed its ids again. Not thread-safe.
 *
 * <p>A token counts if it is between the marks, or contains a byte that is. After the budget, each
 * mask allows only the next of the ids that end the reasoning. Before that, a character that has
 * begun is completed, with at most {@value #UNFINISHED} tokens.
 */
public final class ReasoningTracker {
  /** A budget that is never used up. */
  public static final int UNLIMITED = Integer.MAX_VALUE;

  /**
   * The largest number of tokens for which the end of reasoning waits for the rest of a character.
   */
  private static final int UNFINISHED = 3;

  private enum State {
    START,
    INSIDE,
    OUTSIDE
  }

  private final ReasoningTokens tokens;
  private final int budget;
  private State state;

  /** Number of tokens so far, and the first token that may contain a byte of the reasoning. */
  private int accepted;

  private int first;

  /** Number of tokens in the parts of the reasoning that are closed. */
  private int closed;

  /** The last bytes, and for each byte the number of its token. */
  private final byte[] tail;

  private final int[] owner;
  private int bytes;

  /** Number of bytes of white space, and of the opening mark, at the start of the reply. */
  private int spaces;

  private int matched;

  /** Number of bytes that the last character still needs. */
  private int missing;

  /** How many of the ending ids have arrived since {@link #forcing} was set. */
  private int ended;

  private boolean forcing;
  private byte[] buffer = new byte[64];

  ReasoningTracker(ReasoningTokens tokens, boolean inside, int budget) {
    this.tokens = tokens;
    this.budget = budget;
    int longest = tokens.open.length;
    for (byte[] close : tokens.closes) {
      longest = Math.max(longest, close.length);
    }
    tail = new byte[longest + 1];
    owner = new int[longest + 1];
    state = inside ? State.INSIDE : tokens.anywhere ? State.OUTSIDE : State.START;
    force();
  }

  /** Adds the reply's next token. */
  public void accept(int id) {
    boolean due = forcing && id == tokens.ending(ended);
    ended = due ? ended + 1 : 0;
    forcing = due && ended < tokens.endingLength();
    Tokenizer tokenizer = tokens.tokenizer;
    int count = tokenizer.byteCount(id);
    if (count > buffer.length) {
      buffer = new byte[2 * count];
    }
    if (count > 0) {
      tokenizer.copyBytes(id, buffer, 0);
    } else if (tokenizer.markup().containsKey(id)) {
      byte[] mark = tokenizer.markup().get(id).getBytes(StandardCharsets.UTF_8);
      buffer = mark.length > buffer.length ? new byte[2 * mark.length] : buffer;
      System.arraycopy(mark, 0, buffer, 0, mark.length);
      count = mark.length;
      missing = 0;
    }
    for (int i = 0; i < count; i++) {
      take(buffer[i]);
    }
    accepted++;
    force();
  }

  private void take(byte value) {
    int at = bytes++ % tail.length;
    tail[at] = value;
    owner[at] = accepted;
    character(value & 0xFF);
    switch (state) {
      case START -> start(value);
      case INSIDE -> close();
      case OUTSIDE -> {
        if (tokens.anywhere && endsWith(tokens.open)) {
          open();
        }
      }
    }
  }

  /** Expects optional white space and then the opening mark. */
  private void start(byte value) {
    if (matched == 0 && spaces < CallParser.GAP && Scan.isSpace((char) value)) {
      spaces++;
    } else if (value != tokens.open[matched]) {
      state = State.OUTSIDE;
    } else if (++matched == tokens.open.length) {
      open();
    }
  }

  private void open() {
    state = State.INSIDE;
    first = accepted + 1; // unless another byte of the same token follows
    bytes = 0;
  }

  private void close() {
    first = Math.min(first, accepted);
    for (byte[] close : tokens.closes) {
      if (endsWith(close)) {
        int mark = bytes - close.length;
        int token = owner[mark % tail.length];
        boolean shared = mark > 0 && owner[(mark - 1) % tail.length] == token;
        closed += token - first + (shared ? 1 : 0);
        state = State.OUTSIDE;
        return;
      }
    }
  }

  private boolean endsWith(byte[] mark) {
    if (bytes < mark.length || tail[(bytes - 1) % tail.length] != mark[mark.length - 1]) {
      return false;
    }
    for (int i = 0; i < mark.length; i++) {
      if (tail[(bytes - mark.length + i) % tail.length] != mark[i]) {
        return false;
      }
    }
    return true;
  }

  private void character(int value) {
    boolean more = missing > 0 && (value & 0xC0) == 0x80;
    missing =
        more
            ? missing - 1
            : value < 0xC2 || value > 0xF4 ? 0 : value < 0xE0 ? 1 : value < 0xF0 ? 2 : 3;
  }

  /** Begins to end the reasoning if the budget is used up. */
  private void force() {
    int count = count();
    if (!forcing && state == State.INSIDE && count >= budget) {
      forcing = missing == 0 || count - budget >= UNFINISHED;
      ended = 0;
    }
  }

  /** The number of reasoning tokens so far. */
  public int count() {
    return closed + (state == State.INSIDE ? Math.max(0, accepted - first) : 0);
  }

  /** Returns whether the next token is restricted. */
  public boolean restricts() {
    return forcing || bars();
  }

  private boolean bars() {
    return tokens.before != null
        && state == State.OUTSIDE
        && count() >= budget
        && endsWith(tokens.before);
  }

  /**
   * Removes from a mask the tokens that may not come next.
   *
   * @param mask the tokens that would be allowed otherwise, in the form of {@code TokenMask}
   */
  public void restrict(long[] mask) {
    if (forcing) {
      int id = tokens.ending(ended);
      long only = mask[id >> 6] & 1L << id;
      Arrays.fill(mask, 0);
      mask[id >> 6] = only;
    } else if (bars()) {
      tokens.bar(mask);
    }
  }

  /**
   * Returns whether the restriction of the next token can depend on tokens that are not known yet.
   *
   * @param unknown number of these tokens
   */
  public boolean dependsOn(int unknown) {
    boolean over = state == State.OUTSIDE && !tokens.anywhere && !forcing;
    return unknown > 0 && !over && (long) count() + unknown >= budget;
  }
}
