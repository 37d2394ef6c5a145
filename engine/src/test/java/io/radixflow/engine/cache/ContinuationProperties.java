package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;

/** What the cache has after a key is what a search of all cached pages finds. */
class ContinuationProperties {
  private static final int COPIED = 7;
  private static final String NAMESPACE = "a";

  /** A turn, and how many pages are evicted after it. */
  record Turn(String namespace, int[] tokens, int publicTokens, int evicted) {
    RadixKey key() {
      return new RadixKey(namespace, tokens, tokens.length, Math.min(publicTokens, tokens.length));
    }

    @Override
    public String toString() {
      return "%s%s/%d, %d evicted"
          .formatted(namespace, Arrays.toString(tokens), publicTokens, evicted);
    }
  }

  /** A cached page: the pages of its prefix, each with its namespace, and when it was used. */
  private record Cached(List<String> path, int[] tokens, String namespace, long lastUsedAt) {}

  @Property(tries = 1000)
  void theContinuationIsThatOfTheLatestCachedPages(
      @ForAll("pageSizes") int pageTokens,
      @ForAll("policies") String policy,
      @ForAll("turns") List<Turn> turns,
      @ForAll("turn") Turn asked) {
    Turns world = new Turns(pageTokens, policy);
    RadixKey key = asked.key();
    TreeNode held = null;
    int known = 0;
    for (Turn turn : turns) {
      world.insert(turn.key(), 0);
      if (held == null) {
        PrefixMatch match = world.cache.match(key, Integer.MAX_VALUE);
        known = match.pages();
        held = world.cache.lock(key, match);
      }
      world.cache.evict(turn.evicted);

      int[] expected = naive(pages(world.cache, pageTokens), key, pageTokens);
      assertThat(continuation(world.cache, key, null, 0)).isEqualTo(expected);
      assertThat(continuation(world.cache, key, held, known)).isEqualTo(expected);
    }
  }

  @Test
  void noNamespaceSeesTheContinuationOfAnother() {
    Turns world = new Turns(4);
    int[] turn = IntStream.range(0, 16).toArray();
    world.insert(new RadixKey(NAMESPACE, turn, 16, 8), 0);

    assertThat(continuation(world.cache, new RadixKey(NAMESPACE, turn, 9, 8), null, 0))
        .containsExactly(9, 10, 11, 12, 13, 14, 15);
    assertThat(continuation(world.cache, new RadixKey("b", turn, 9, 8), null, 0)).isEmpty();
    assertThat(continuation(world.cache, new RadixKey("b", turn, 8, 8), null, 0)).isEmpty();
    assertThat(continuation(world.cache, new RadixKey("b", turn, 9), null, 0)).isEmpty();
    RadixKey open = new RadixKey(NamespaceKey.PUBLIC, turn, 5);
    assertThat(continuation(world.cache, open, null, 0)).containsExactly(5, 6, 7);
  }

  private static int[] continuation(RadixCache cache, RadixKey key, TreeNode resume, int known) {
    int nodes = cache.nodes();
    int[] into = new int[COPIED];
    int copied = cache.copyContinuation(key, resume, known, into);
    assertThat(cache.nodes()).isEqualTo(nodes);
    return Arrays.copyOf(into, copied);
  }

  private static List<Cached> pages(RadixCache cache, int pageTokens) {
    List<Cached> pages = new ArrayList<>();
    cache.forEachNode(
        node -> {
          List<String> path = new ArrayList<>();
          for (TreeNode each = node.parent; each != null; each = each.parent) {
            for (int i = each.pageCount() - 1; i >= 0; i--) {
              path.add(0, name(each.namespace, tokens(each.tokens(), i, pageTokens)));
            }
          }
          for (int i = 0; i < node.pageCount(); i++) {
            int[] tokens = tokens(node.tokens(), i, pageTokens);
            path.add(name(node.namespace, tokens));
            pages.add(new Cached(List.copyOf(path), tokens, node.namespace, node.lastUsedAt));
          }
        });
    return pages;
  }

  private static int[] tokens(int[] from, int page, int pageTokens) {
    return Arrays.copyOfRange(from, page * pageTokens, (page + 1) * pageTokens);
  }

  private static String name(String namespace, int[] tokens) {
    return namespace + Arrays.toString(tokens);
  }

  private static int[] naive(List<Cached> pages, RadixKey key, int pageTokens) {
    List<String> path = new ArrayList<>();
    for (int i = 0; i < key.pages(pageTokens); i++) {
      path.add(name(key.namespaceAt(i, pageTokens), tokens(key.tokens(), i, pageTokens)));
    }
    int end = path.size() * pageTokens;
    int[] rest = Arrays.copyOfRange(key.tokens(), end, key.length());
    List<Integer> found = new ArrayList<>();
    for (Cached next = after(pages, path, key, rest);
        next != null;
        next = after(pages, path, key, new int[0])) {
      found.addAll(Arrays.stream(next.tokens).boxed().toList());
      path.add(name(next.namespace, next.tokens));
    }
    return found.stream().mapToInt(i -> i).skip(rest.length).limit(COPIED).toArray();
  }

  /** The page used last of those after a path that begin with some tokens; null if none does. */
  private static Cached after(
      List<Cached> pages, List<String> path, RadixKey key, int[] beginning) {
    Cached latest = null;
    for (Cached page : pages) {
      int length = page.path.size() - 1;
      if (length == path.size()
          && page.path.subList(0, length).equals(path)
          && page.namespace.equals(key.namespace())
          && Arrays.equals(Arrays.copyOf(page.tokens, beginning.length), beginning)
          && (latest == null || page.lastUsedAt > latest.lastUsedAt)) {
        latest = page;
      }
    }
    return latest;
  }

  @Provide
  Arbitrary<Integer> pageSizes() {
    return Arbitraries.of(1, 2, 4);
  }

  @Provide
  Arbitrary<String> policies() {
    return Arbitraries.of(EvictionPolicies.names());
  }

  @Provide
  Arbitrary<Turn> turn() {
    Arbitrary<int[]> tokens =
        Arbitraries.frequencyOf(
            Tuple.of(1, Arbitraries.integers().between(0, 12).map(int[]::new)),
            Tuple.of(2, Arbitraries.integers().between(0, 1).array(int[].class).ofMaxSize(16)));
    return Combinators.combine(
            Arbitraries.of(NAMESPACE, NAMESPACE, "b", NamespaceKey.PUBLIC),
            tokens,
            Arbitraries.of(0, 0, 2, 4),
            Arbitraries.of(0, 0, 1, 3))
        .as(Turn::new);
  }

  @Provide
  Arbitrary<List<Turn>> turns() {
    return turn().list().ofMinSize(1).ofMaxSize(12);
  }
}
