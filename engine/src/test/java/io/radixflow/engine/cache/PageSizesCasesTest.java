package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.RadixKey;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Asserts what SGLang's suite over several page sizes asserts, on the tree that serves. */
class PageSizesCasesTest {

  /** A test that runs with each page size. */
  @Retention(RetentionPolicy.RUNTIME)
  @ParameterizedTest
  @ValueSource(ints = {1, 4, 16, 64, 128})
  private @interface EachPageSize {}

  /** Consecutive ids from {@code start} that fill so many pages. */
  private static int[] seq(int start, int pages, int pageTokens) {
    return IntStream.range(start, start + pages * pageTokens).toArray();
  }

  private static int[] join(int[]... parts) {
    return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
  }

  /** Case U1. */
  @EachPageSize
  void anExtensionReusesWhatItExtends(int p) {
    Turns turns = new Turns(p);
    int[] a = seq(1, 2, p);
    int[] b = join(a, seq(1000, 1, p));
    turns.insert(a);
    assertThat(turns.insert(b)).isEqualTo(a.length);
    assertThat(turns.matched(b)).isEqualTo(b.length);
    assertThat(turns.matched(join(a, seq(9000, 1, p)))).isEqualTo(a.length);
    assertThat(turns.matched(seq(5000, 2, p))).isZero();
  }

  /** Case U2. */
  @EachPageSize
  void branchesShareTheirBase(int p) {
    Turns turns = new Turns(p);
    int[] base = seq(1, 2, p);
    int[] left = join(base, seq(100, 2, p));
    int[] right = join(base, seq(1200, 2, p));
    turns.insert(base);
    assertThat(turns.insert(left)).isEqualTo(base.length);
    assertThat(turns.insert(right)).isEqualTo(base.length);
    assertThat(turns.matched(left)).isEqualTo(left.length);
    assertThat(turns.matched(right)).isEqualTo(right.length);
    assertThat(turns.matched(join(base, seq(5000, 1, p)))).isEqualTo(base.length);
  }

  /** Case U3. */
  @EachPageSize
  void lockedPagesSurviveAnyEviction(int p) {
    Turns turns = new Turns(p);
    int[] a = seq(1, 2, p);
    int[] b = seq(1000, 2, p);
    turns.insert(a);
    turns.insert(b);
    TreeNode locked = turns.lock(a);
    assertThat(turns.evict(a.length + b.length)).isEqualTo(b.length);
    assertThat(turns.matched(a)).isEqualTo(a.length);
    turns.cache.unlock(locked);
    assertThat(turns.evict(a.length)).isEqualTo(a.length);
  }

  /** Case U4. */
  @EachPageSize
  void anEmptyTreeHasNothingToEvict(int p) {
    assertThat(new Turns(p).evict(10)).isZero();
  }

  /** Case U5: what a request brings twice is freed, what it took from the tree is not. */
  @EachPageSize
  void duplicatesOfWhatIsCachedAreFreed(int p) {
    Turns turns = new Turns(p);
    int free = turns.free();
    int[] three = seq(1, 3, p);
    turns.insert(seq(1, 1, p));
    assertThat(turns.free()).isEqualTo(free - p);

    RadixKey two = turns.key("", seq(1, 2, p));
    TreeNode root = turns.cache.lock(two, turns.cache.match(two, 0));
    int[] table = {turns.allocator.allocate(), turns.allocator.allocate()};
    int[] cached = turns.pages(two);
    turns.cache.unlock(turns.cache.insert(root, two, 0, 2, table, true).node());
    assertThat(turns.free()).isEqualTo(free - 2 * p);
    assertThat(table[0]).isEqualTo(cached[0]);

    assertThat(turns.insert(three)).isEqualTo(2 * p);
    assertThat(turns.free()).isEqualTo(free - 3 * p);
  }

  /** Case U6. */
  @EachPageSize
  void aFinishedRequestLeavesItsWholePages(int p) {
    Turns turns = new Turns(p);
    int[] tokens = join(seq(1, 3, p), seq(1000, 1, p));
    turns.insert(tokens);
    assertThat(turns.matched(tokens)).isEqualTo(4 * p);
    int[] longer = join(tokens, new int[] {7});
    assertThat(turns.insert(longer)).isEqualTo(4 * p);
    assertThat(turns.matched(longer)).isEqualTo(longer.length / p * p);
  }

  /** Case U7: only the prompt is left, the rest of the request's pages are free. */
  @EachPageSize
  void aReplyThatIsNotKeptIsNotCached(int p) {
    Turns turns = new Turns(p);
    int free = turns.free();
    int[] prompt = seq(1, 3, p);
    int[] all = join(prompt, seq(1000, 7, p));
    Request request = new Request(turns, all);
    assertThat(turns.free()).isEqualTo(free - all.length);
    request.finish(prompt.length / p);
    assertThat(turns.matched(all)).isEqualTo(prompt.length);
    assertThat(turns.free()).isEqualTo(free - prompt.length);
  }

  /** Case U8. */
  @EachPageSize
  void aRequestThatStoresNothingFreesAll(int p) {
    Turns turns = new Turns(p);
    int free = turns.free();
    int[] tokens = seq(1, 2, p);
    new Request(turns, tokens).finish(0);
    assertThat(turns.free()).isEqualTo(free);
    assertThat(turns.matched(tokens)).isZero();
  }

  /** Case U9. */
  @EachPageSize
  void anUnfinishedRequestHoldsWhatItStored(int p) {
    Turns turns = new Turns(p);
    int[] tokens = seq(1, 3, p);
    TreeNode node = turns.hold(tokens);
    assertThat(node.endPage()).isEqualTo(3);
    assertThat(turns.locked()).isEqualTo(tokens.length);
    assertThat(turns.matched(tokens)).isEqualTo(tokens.length);
    turns.cache.unlock(node);
    assertThat(turns.locked()).isZero();
  }

  /** Case U10. */
  @EachPageSize
  void aPartOfAPageIsNotFound(int p) {
    Turns turns = new Turns(p);
    int[] tokens = seq(1, 2, p);
    turns.insert(tokens);
    assertThat(turns.matched(join(tokens, seq(5000, 1, p - 1)))).isEqualTo(tokens.length);
    assertThat(turns.matched(seq(1, 1, p - 1))).isZero();
  }

  /** Case U11. */
  @EachPageSize
  void aPageMatchesAsAWholeOrNotAtAll(int p) {
    Turns turns = new Turns(p);
    turns.insert(seq(1, 1, p));
    turns.insert(seq(1, 2, p));
    int[] lastWrong = seq(1, 2, p);
    lastWrong[2 * p - 1] = -1;
    assertThat(turns.matched(lastWrong)).isEqualTo(p);
    int[] firstWrong = seq(1, 2, p);
    firstWrong[0] = -1;
    assertThat(turns.matched(firstWrong)).isZero();
  }

  /** Case U12. */
  @EachPageSize
  void theUnfilledLastPageOfARequestIsFreed(int p) {
    Turns turns = new Turns(p);
    int free = turns.free();
    int[] tokens = join(seq(1, 1, p), seq(1000, 1, p / 2));
    new Request(turns, tokens).finish(1);
    assertThat(turns.matched(tokens)).isEqualTo(p);
    assertThat(turns.free()).isEqualTo(free - p);
  }

  /** Case U13. */
  @EachPageSize
  void evictingMoreThanIsCachedFreesAllThatIsCached(int p) {
    Turns turns = new Turns(p);
    turns.insert(seq(1, 3, p));
    assertThat(turns.evict(2 * turns.evictable())).isEqualTo(3 * p);
    assertThat(turns.evictable()).isZero();
  }

  /** Case U14. */
  @EachPageSize
  void aBaseCanBeEvictedOnceItsBranchIsGoneAndItIsUnlocked(int p) {
    Turns turns = new Turns(p);
    int[] base = seq(1, 2, p);
    int[] branch = join(base, seq(1000, 2, p));
    turns.insert(base);
    turns.insert(branch);
    TreeNode locked = turns.lock(base);
    assertThat(turns.evict(2 * p)).isEqualTo(2 * p);
    assertThat(turns.matched(branch)).isEqualTo(base.length);
    assertThat(turns.evict(p)).isZero();
    turns.cache.unlock(locked);
    assertThat(turns.evict(2 * p)).isEqualTo(2 * p);
    assertThat(turns.matched(base)).isZero();
  }

  /** Case U15. */
  @EachPageSize
  void nothingIsLeftOfAChainThatIsEvicted(int p) {
    Turns turns = new Turns(p);
    turns.insert(seq(1, 2, p));
    turns.insert(seq(1, 4, p));
    turns.insert(seq(1, 6, p));
    assertThat(turns.evict(6 * p)).isEqualTo(6 * p);
    assertThat(turns.cache.nodes()).isZero();
    assertThat(turns.total()).isZero();
  }

  /** Case U16. */
  @EachPageSize
  void theLeastRecentlyUsedIsEvictedFirst(int p) {
    Turns turns = new Turns(p);
    int[] old = seq(1, 2, p);
    int[] touched = seq(1000, 2, p);
    turns.insert(touched);
    turns.insert(old);
    turns.touch(touched);
    turns.evict(old.length);
    assertThat(turns.matched(old)).isZero();
    assertThat(turns.matched(touched)).isEqualTo(touched.length);
  }

  /** Case U17. */
  @EachPageSize
  void theLowestPriorityIsEvictedFirst(int p) {
    Turns turns = new Turns(p, "priority");
    int[] high = seq(1, 2, p);
    int[] low = seq(1000, 2, p);
    turns.insert(turns.key("", high), 10);
    turns.insert(turns.key("", low), 0);
    turns.evict(low.length);
    assertThat(turns.matched(high)).isEqualTo(high.length);
    assertThat(turns.matched(low)).isZero();
  }

  /** Case U18. */
  @EachPageSize
  void halfOfTheLeavesAndThenTheRestCanBeEvicted(int p) {
    Turns turns = new Turns(p);
    for (int i = 0; i < 4; i++) {
      turns.insert(seq(1000 * i, 2, p));
    }
    int total = turns.evictable();
    assertThat(turns.evict(total / 2)).isEqualTo(total / 2);
    assertThat(turns.evictable()).isEqualTo(total - total / 2);
    turns.evict(total);
    assertThat(turns.evictable()).isZero();
  }

  /** Case U19. */
  @EachPageSize
  void aLockedBranchKeepsItsBase(int p) {
    Turns turns = new Turns(p);
    int[] base = seq(1, 2, p);
    int[] a = join(base, seq(1000, 2, p));
    int[] b = join(base, seq(2000, 2, p));
    turns.insert(a);
    turns.insert(b);
    TreeNode locked = turns.lock(b);
    assertThat(turns.evict(a.length)).isEqualTo(2 * p);
    assertThat(turns.matched(b)).isEqualTo(b.length);
    turns.cache.unlock(locked);
  }

  /** Case U20. */
  @EachPageSize
  void evictionReportsExactlyThePagesThatLeave(int p) {
    Turns turns = new Turns(p);
    for (int i = 0; i < 5; i++) {
      turns.insert(seq(1000 * i, 1 + i, p));
    }
    int before = turns.total();
    int reported = turns.evict(7 * p);
    assertThat(reported).isEqualTo(7 * p).isEqualTo(before - turns.total());
    assertThat(turns.evict(before)).isEqualTo(before - reported);
    assertThat(turns.total()).isZero();
  }

  /** Case U21. */
  @EachPageSize
  void anEmptiedTreeTakesNewSequences(int p) {
    Turns turns = new Turns(p);
    turns.insert(seq(1, 3, p));
    turns.evict(turns.evictable());
    int[] tokens = seq(1000, 3, p);
    assertThat(turns.insert(tokens)).isZero();
    assertThat(turns.matched(tokens)).isEqualTo(tokens.length);
  }

  /** Case U22. */
  @EachPageSize
  void aLockedParentOutlivesItsChild(int p) {
    Turns turns = new Turns(p);
    int[] parent = seq(1, 1, p);
    int[] child = seq(1, 2, p);
    turns.insert(parent);
    TreeNode locked = turns.lock(parent);
    turns.insert(child);
    assertThat(turns.evict(2 * p)).isEqualTo(p);
    assertThat(turns.cache.nodes()).isEqualTo(1);
    assertThat(turns.matched(child)).isEqualTo(parent.length);
    turns.cache.unlock(locked);
    assertThat(turns.evictable()).isEqualTo(p);
  }

  /** A request that has computed all of its tokens and has found nothing. */
  private static final class Request {
    private final Turns turns;
    private final RadixKey key;
    private final TreeNode locked;
    private final int[] table;

    Request(Turns turns, int[] tokens) {
      this.turns = turns;
      key = turns.key("", tokens);
      locked = turns.cache.lock(key, turns.cache.match(key, 0));
      table = new int[turns.allocator.pagesFor(tokens.length)];
      assertThat(turns.allocator.allocExtend(table, 0, tokens.length)).isTrue();
    }

    /** Ends, leaving the first {@code stored} pages to the cache. */
    void finish(int stored) {
      TreeNode node = turns.cache.insert(locked, key, 0, stored, table, true).node();
      for (int i = stored; i < table.length; i++) {
        turns.allocator.free(table[i]);
      }
      turns.cache.unlock(node);
    }
  }
}
