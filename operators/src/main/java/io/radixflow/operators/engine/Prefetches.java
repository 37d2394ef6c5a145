package io.radixflow.operators.engine;

import io.radixflow.operators.cache.CacheSlot;
import io.radixflow.operators.record.CacheHints;
import io.radixflow.operators.tier.Prefetch;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * Turns that are expected: the pages of their prompts are brought from the store to host memory,
 * and those that no tier has are computed while the engine is idle. Neither takes anything from
 * requests: it all ends when the turn comes, which goes on with what is there by then.
 *
 * <p>{@link #submit} and {@link #overtaken} may be called by any thread; the rest happens on the
 * engine thread.
 */
final class Prefetches {
  /** Turns that may be expected at a time. */
  static final int MOST = 1024;

  private record Branch(String session, String name) {
    static Branch of(SessionRef ref) {
      return new Branch(ref.session(), ref.branch());
    }
  }

  private static final class Expected {
    final Request turn;

    /** What is fetched for it; null if nothing is. */
    Prefetch prefetch;

    boolean ended;

    Expected(Request turn) {
      this.turn = turn;
    }
  }

  private final KvPages pages;
  private final SessionSlots slots;
  private final IdlePrefill idle;
  private final Intake intake;
  private final Executor engine;
  private final Map<Branch, Expected> live = new ConcurrentHashMap<>();

  /**
   * @param idle null if nothing is to be computed ahead
   * @param intake makes prompts
   * @param engine runs what touches pages
   */
  Prefetches(KvPages pages, SessionSlots slots, IdlePrefill idle, Intake intake, Executor engine) {
    this.pages = pages;
    this.slots = slots;
    this.idle = idle;
    this.intake = intake;
    this.engine = engine;
  }

  /**
   * Takes an expected turn, in place of another one of its branch.
   *
   * @return false if there are too many
   */
  boolean submit(EngineRequest spec, long sequence) {
    if (live.size() >= MOST) {
      return false;
    }
    Expected expected = new Expected(Request.expected(spec, sequence, slots.join(spec.session())));
    Expected before = live.put(Branch.of(spec.session()), expected);
    if (before != null) {
      engine.execute(() -> end(before));
    }
    intake.foresee(expected.turn, made -> engine.execute(() -> begin(expected, made)));
    return true;
  }

  /** A turn comes, which is not expected any more; before it gets to the engine thread. */
  void overtaken(SessionRef ref) {
    Expected expected = ref == null || live.isEmpty() ? null : live.remove(Branch.of(ref));
    if (expected != null) {
      engine.execute(() -> end(expected));
    }
  }

  /** A session was closed. */
  void closed(CacheSlot slot) {
    endAll(turn -> turn.slot == slot);
  }

  /** A tenant was erased. */
  void erased(String tenant) {
    endAll(turn -> turn.spec.service().tenant().equals(tenant));
  }

  private void endAll(Predicate<Request> test) {
    for (Expected expected : live.values()) {
      if (test.test(expected.turn)) {
        end(expected);
      }
    }
  }

  /** Its prompt was made, or cannot be. */
  private void begin(Expected expected, boolean made) {
    Request turn = expected.turn;
    if (expected.ended) {
      return;
    }
    if (!made || turn.slot.isClosed()) {
      end(expected);
      return;
    }
    expected.prefetch =
        pages.tiers().prefetch(turn, pages.match(turn).pages(), () -> fetched(expected));
    if (expected.prefetch == null) {
      fetched(expected);
    }
  }

  /** What the store had is in host memory. */
  private void fetched(Expected expected) {
    if (!expected.ended && idle != null && isWorthComputing(expected.turn)) {
      idle.offer(expected.turn, () -> end(expected));
    } else {
      end(expected);
    }
  }

  private boolean isWorthComputing(Request turn) {
    CacheHints hints = turn.spec.hints();
    if (turn.slot.isClosed() || hints.noStore()) {
      return false;
    }
    int atHand = pages.tiers().pagesAtHand(turn, pages.match(turn).pages());
    return atHand < turn.length / pages.pageTokens() || hints.pinMillis() > 0;
  }

  private void end(Expected expected) {
    if (expected.ended) {
      return;
    }
    expected.ended = true;
    live.remove(Branch.of(expected.turn.spec.session()), expected);
    if (expected.prefetch != null) {
      pages.tiers().end(expected.prefetch);
    }
    if (idle != null) {
      idle.forget(expected.turn);
    }
    slots.leave(expected.turn.slot);
  }
}
