package io.radixflow.grammar;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Computes which tokens of one vocabulary may follow in the states of one automaton. Whether a
 * token within a lexeme is allowed depends only on the lexeme, so such tokens are computed once for
 * each expression. Only tokens that go beyond the lexeme are followed through the rules. Not
 * thread-safe.
 */
final class TokenMasks {
  private final Automaton automaton;
  private final TokenTrie trie;
  private final Map<GrammarState, long[]> ofStates = cache();
  private final Map<Regex, Inside> ofLexemes = cache();
  private final GrammarState[] path;
  private final Regex[] regexPath;

  /** The limit of {@link Automaton#work} for the current mask. */
  private long mostWork;

  private long lexemeBytes;

  /** The epoch of the automaton whose states are cached. */
  private int epoch;

  TokenMasks(Automaton automaton, TokenTrie trie) {
    this.automaton = automaton;
    this.trie = trie;
    path = new GrammarState[trie.tree().maxDepth + 1];
    regexPath = new Regex[trie.tree().maxDepth + 1];
  }

  /**
   * Tokens within a lexeme: a slice and some other tokens, whose trie has nodes at which the lexeme
   * may end.
   */
  private record Inside(TokenSlice slice, int[] words, long[] bits, int[] exits, long work) {
    long bytes() {
      return 4L * words.length + 8L * bits.length + 4L * exits.length + 100;
    }
  }

  private <K, V> Map<K, V> cache() {
    return new LinkedHashMap<>(64, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        boolean removed = size() > Limits.MASKS;
        lexemeBytes -= removed && eldest.getValue() instanceof Inside inside ? inside.bytes() : 0;
        return removed;
      }
    };
  }

  /** Returns the mask of a state, including end tokens; do not change it. */
  long[] of(GrammarState state, boolean first) {
    if (epoch != automaton.epoch()) {
      ofStates.clear();
      ofLexemes.clear();
      lexemeBytes = 0;
      epoch = automaton.epoch();
    }
    mostWork = automaton.work() + Limits.MASK_WORK;
    long[] known = ofStates.get(state);
    if (known == null) {
      known = compute(state);
      ofStates.put(state, known);
    }
    return first && trie.dropsLeadingSpace() ? withLeadingSpace(state, known) : known;
  }

  /** Returns an estimate of the bytes that all masks take. */
  long bytes() {
    return lexemeBytes + ofStates.size() * ((trie.vocabSize() >> 3) + 100L);
  }

  private void checkWork() {
    if (automaton.work() > mostWork) {
      throw GrammarException.tooLarge("the tokens that may come next take too long to find");
    }
  }

  private long[] compute(GrammarState state) {
    long[] mask = new long[(trie.vocabSize() + 63) >> 6];
    for (int i = 0; i < state.lexemes.length; i++) {
      Inside inside = inside(state.lexemes[i]);
      long[] slice = inside.slice.mask();
      for (int word = 0; slice != null && word < slice.length; word++) {
        mask[word] |= slice[word];
      }
      for (int word = 0; word < inside.words.length; word++) {
        mask[inside.words[word]] |= inside.bits[word];
      }
      GrammarState after = automaton.returned(state.stacks[i]);
      if (after.lexemes.length > 0) {
        for (int node : inside.exits) {
          walk(inside.slice.others(), node, after, mask);
        }
      }
    }
    if (state.accepting) {
      for (int id : trie.endIds()) {
        mask[id >> 6] |= 1L << id;
      }
    }
    return mask;
  }

  /**
   * Returns the mask at the start of a reply, where a token's leading space may be dropped from the
   * text.
   */
  private long[] withLeadingSpace(GrammarState state, long[] mask) {
    long[] more = mask.clone();
    TokenTree tree = trie.tree();
    for (int node = 1; node < tree.end[0]; node = tree.end[node]) {
      if (tree.value[node] == ' ') {
        int last = tree.firstToken[tree.end[node]];
        for (int token = tree.firstToken[node]; token < last; token++) {
          more[tree.tokens[token] >> 6] &= ~(1L << tree.tokens[token]);
        }
        walk(tree, node, state, more);
      }
    }
    return more;
  }

  /** Marks the tokens below a node whose further bytes a state allows. */
  private void walk(TokenTree tree, int from, GrammarState state, long[] mask) {
    path[tree.depth[from]] = state;
    int node = from + 1;
    int last = tree.end[from];
    while (node < last) {
      checkWork();
      GrammarState after = automaton.step(path[tree.depth[node] - 1], tree.value[node] & 0xFF);
      if (after.isDead()) {
        node = tree.end[node];
        continue;
      }
      path[tree.depth[node]] = after;
      tree.mark(node, node + 1, mask);
      node++;
    }
  }

  private Inside inside(Regex exact) {
    Regex lexeme = automaton.within(exact, trie.tree().maxDepth);
    Inside known = ofLexemes.get(lexeme);
    if (known == null) {
      known = walk(lexeme);
      ofLexemes.put(lexeme, known);
      lexemeBytes += known.bytes();
    } else {
      automaton.addWork(known.work);
      checkWork();
    }
    return known;
  }

  private Inside walk(Regex lexeme) {
    long before = automaton.work();
    TokenSlice slice = trie.slice(automaton.freeRun(lexeme));
    TokenTree tree = slice.others();
    long[] mask = new long[(trie.vocabSize() + 63) >> 6];
    int[] exits = new int[16];
    int count = 0;
    regexPath[0] = lexeme;
    int node = 1;
    while (node < tree.end[0]) {
      checkWork();
      Regex after = automaton.step(regexPath[tree.depth[node] - 1], tree.value[node] & 0xFF);
      if (automaton.isEmpty(after)) {
        node = tree.end[node];
        continue;
      }
      if (tree.isLeaf(node) || allowsAllBelow(after, tree, node)) {
        tree.mark(node, tree.end[node], mask);
        node = tree.end[node];
        continue;
      }
      regexPath[tree.depth[node]] = after;
      tree.mark(node, node + 1, mask);
      if (after.nullable) {
        exits = count == exits.length ? Arrays.copyOf(exits, 2 * count) : exits;
        exits[count++] = node;
      }
      node++;
    }
    return compact(slice, mask, Arrays.copyOf(exits, count), automaton.work() - before);
  }

  private boolean allowsAllBelow(Regex lexeme, TokenTree tree, int node) {
    return automaton.freeRun(lexeme).covers(tree.groupsBelow(node), tree.charactersBelow(node));
  }

  private static Inside compact(TokenSlice slice, long[] mask, int[] exits, long work) {
    int[] words = new int[mask.length];
    int count = 0;
    for (int word = 0; word < mask.length; word++) {
      if (mask[word] != 0) {
        words[count++] = word;
      }
    }
    long[] bits = new long[count];
    for (int i = 0; i < count; i++) {
      bits[i] = mask[words[i]];
    }
    return new Inside(slice, Arrays.copyOf(words, count), bits, exits, work);
  }
}
