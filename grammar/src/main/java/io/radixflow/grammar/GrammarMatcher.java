package io.radixflow.grammar;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import java.util.Arrays;
import java.util.List;

/**
 * Follows one reply through a {@link Grammar}. Its state is a pure function of the bytes it has
 * accepted. Not thread-safe; matchers of one grammar may run in different threads.
 *
 * <p>A grammar whose rules are ambiguous beyond {@link Limits} makes any method throw {@link
 * GrammarException}.
 */
public final class GrammarMatcher {
  private final Grammar grammar;
  private final TokenTrie trie;
  private final TokenMasks masks;
  private byte[] accepted = new byte[64];
  private int length;
  private boolean ended;
  private GrammarState state;
  private int epoch;

  private int markedLength;
  private boolean markedEnd;
  private GrammarState markedState;
  private int markedEpoch;

  GrammarMatcher(Grammar grammar, TokenTrie trie, TokenMasks masks) {
    this.grammar = grammar;
    this.trie = trie;
    this.masks = masks;
    synchronized (grammar.lock) {
      state = grammar.automaton.start();
      epoch = grammar.automaton.epoch();
    }
  }

  /** Goes back to the start of the text. */
  public void reset() {
    synchronized (grammar.lock) {
      length = 0;
      ended = false;
      state = grammar.automaton.start();
      epoch = grammar.automaton.epoch();
    }
  }

  /** Returns the number of bytes accepted so far. */
  public int length() {
    return length;
  }

  /**
   * Accepts bytes up to the first byte that the grammar does not allow.
   *
   * @return the number of bytes accepted
   */
  public int acceptBytes(byte[] bytes) {
    synchronized (grammar.lock) {
      refresh();
      return accept(bytes, 0);
    }
  }

  /** Accepts a token of the vocabulary, or returns false and keeps the state. */
  public boolean acceptToken(int id) {
    if (ended || id < 0 || id >= trie.vocabSize()) {
      return false;
    }
    synchronized (grammar.lock) {
      refresh();
      if (trie.ends(id)) {
        ended = state.accepting;
        return ended;
      }
      byte[] bytes = trie.bytes(id);
      if (bytes.length == 0) {
        return false;
      }
      if (length == 0 && trie.dropsLeadingSpace() && bytes[0] == ' ') {
        return bytes.length > 1 && accepts(bytes, 1);
      }
      return accepts(bytes, 0);
    }
  }

  /** Returns the parts of loose schemas that are not enforced; see {@link Grammar#notices}. */
  public List<String> notices() {
    return grammar.notices();
  }

  private boolean accepts(byte[] bytes, int from) {
    GrammarState before = state;
    int lengthBefore = length;
    if (accept(bytes, from) == bytes.length - from) {
      return true;
    }
    state = before;
    length = lengthBefore;
    return false;
  }

  private int accept(byte[] bytes, int from) {
    if (ended) {
      return 0;
    }
    for (int i = from; i < bytes.length; i++) {
      GrammarState next = grammar.automaton.step(state, bytes[i] & 0xFF);
      if (next.isDead()) {
        return i - from;
      }
      state = next;
      if (length == accepted.length) {
        accepted = Arrays.copyOf(accepted, 2 * length);
      }
      accepted[length++] = bytes[i];
    }
    return bytes.length - from;
  }

  /** Marks the current position, for {@link #rewind}. */
  public void mark() {
    markedLength = length;
    markedEnd = ended;
    markedState = state;
    markedEpoch = epoch;
  }

  /** Goes back to the position of the last {@link #mark}; there must be one. */
  public void rewind() {
    length = markedLength;
    ended = markedEnd;
    state = markedState;
    if (epoch != markedEpoch) {
      synchronized (grammar.lock) {
        feed();
      }
    }
  }

  /** Returns whether the text has ended with a token that ends a turn. */
  public boolean hasEnded() {
    return ended;
  }

  /**
   * Writes the text that must come next. White space is a guess: it is written as in similar places
   * before. The state does not change. {@link Limits} end the text early.
   *
   * @return the number of bytes, at most the length of {@code target}; 0 if there is a choice
   */
  public int forcedText(byte[] target) {
    if (ended) {
      return 0;
    }
    synchronized (grammar.lock) {
      refresh();
      return ForcedText.write(grammar.automaton, state, accepted, length, target);
    }
  }

  /** Returns whether the text may end here. */
  public boolean canEnd() {
    synchronized (grammar.lock) {
      return ended || state.accepting;
    }
  }

  /**
   * Writes which tokens may come next, in the form of {@code TokenMask}: tokens whose bytes the
   * grammar allows, and the end tokens if the text may end. Other special tokens are not allowed.
   *
   * @param mask at least one bit for each token of the vocabulary; all bits are written
   */
  public void mask(long[] mask) {
    Arrays.fill(mask, 0);
    if (ended) {
      for (int id : trie.endIds()) {
        mask[id >> 6] |= 1L << id;
      }
      return;
    }
    synchronized (grammar.lock) {
      refresh();
      long[] allowed = masks.of(state, length == 0);
      System.arraycopy(allowed, 0, mask, 0, allowed.length);
      grammar.measure();
    }
  }

  /** Feeds the text again if the automaton has dropped its states. */
  private void refresh() {
    grammar.automaton.trim();
    if (epoch != grammar.automaton.epoch()) {
      feed();
    }
  }

  private void feed() {
    epoch = grammar.automaton.epoch();
    state = grammar.automaton.start();
    for (int i = 0; i < length; i++) {
      state = grammar.automaton.step(state, accepted[i] & 0xFF);
    }
  }
}
