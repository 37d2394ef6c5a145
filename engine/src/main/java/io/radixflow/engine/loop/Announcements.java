package io.radixflow.engine.loop;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.session.CacheSlot;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.CachedSessions;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.tier.loadback.LoadBack;
import io.radixflow.protocol.record.CacheHints;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * Prepares announced turns: a {@link LoadBack} brings the pages of their prompts from the stores to
 * host memory, and pages that no tier has are computed while the engine is idle. Neither slows
 * requests down. The preparation ends when the turn comes, and the turn uses the pages that are
 * ready by then.
 *
 * <p>{@link #submit} and {@link #overtaken} may be called by any thread; the rest happens on the
 * engine thread.
 */
public final class Announcements {
  /** The most announced turns. */
  public static final int MOST = 1024;

  private record Branch(String session, String name) {
    static Branch of(SessionRef ref) {
      return new Branch(ref.session(), ref.branch());
    }
  }

  private static final class Announced {
    final Request turn;

    /**
     * Brings the turn's pages to host memory; null before it starts, and if there are no pages to
     * bring.
     */
    LoadBack loadBack;

    boolean ended;

    Announced(Request turn) {
      this.turn = turn;
    }
  }

  private final KvPages pages;
  private final CachedSessions slots;
  private final IdlePrefill idle;
  private final Intake intake;
  private final Executor engine;
  private final Map<Branch, Announced> live = new ConcurrentHashMap<>();

  /**
   * @param intake makes prompts
   * @param engine runs tasks on the engine thread, which owns the pages
   */
  Announcements(
      KvPages pages, CachedSessions slots, IdlePrefill idle, Intake intake, Executor engine) {
    this.pages = pages;
    this.slots = slots;
    this.idle = idle;
    this.intake = intake;
    this.engine = engine;
  }

  /**
   * Accepts an announced turn. It replaces an earlier announcement for its branch.
   *
   * @return false if too many turns are announced
   */
  boolean submit(EngineRequest spec, long sequence) {
    if (live.size() >= MOST) {
      return false;
    }
    Announced announced =
        new Announced(Request.expected(spec, sequence, slots.join(spec.session())));
    Announced before = live.put(Branch.of(spec.session()), announced);
    if (before != null) {
      engine.execute(() -> end(before));
    }
    intake.foresee(announced.turn, made -> engine.execute(() -> begin(announced, made)));
    return true;
  }

  /**
   * Ends the announcement of a turn when the turn is submitted, before it gets to the engine
   * thread.
   */
  void overtaken(SessionRef ref) {
    Announced announced = ref == null || live.isEmpty() ? null : live.remove(Branch.of(ref));
    if (announced != null) {
      engine.execute(() -> end(announced));
    }
  }

  /** Ends the announcement of a turn that will not come. */
  void withdraw(SessionRef ref) {
    Announced announced = live.remove(Branch.of(ref));
    if (announced != null) {
      engine.execute(
          () -> {
            announced.turn.withdraw();
            end(announced);
          });
    }
  }

  /** Ends the announcements of a closed session. */
  void closed(CacheSlot slot) {
    endAll(turn -> turn.slot == slot);
  }

  /** Ends the announcements of an erased tenant. */
  void erased(String tenant) {
    endAll(turn -> turn.spec.service().tenant().equals(tenant));
  }

  private void endAll(Predicate<Request> test) {
    for (Announced announced : live.values()) {
      if (test.test(announced.turn)) {
        end(announced);
      }
    }
  }

  /** Begins the load-back of a turn whose prompt was made, or ends it. */
  private void begin(Announced announced, boolean made) {
    Request turn = announced.turn;
    if (announced.ended) {
      return;
    }
    if (!made || turn.slot.isClosed()) {
      end(announced);
      return;
    }
    announced.loadBack =
        pages
            .tiers()
            .announce(turn.pages.chain(), pages.match(turn).pages(), () -> onHost(announced));
    if (announced.loadBack == null) {
      onHost(announced);
    }
  }

  /** Called when the pages from the stores are in host memory; has the rest computed. */
  private void onHost(Announced announced) {
    if (!announced.ended && isWorthComputing(announced.turn)) {
      idle.offer(announced.turn, () -> end(announced));
    } else {
      end(announced);
    }
  }

  private boolean isWorthComputing(Request turn) {
    CacheHints hints = turn.spec.hints();
    if (turn.slot.isClosed() || hints.noStore()) {
      return false;
    }
    int atHand = pages.tiers().pagesAtHand(turn.pages.chain(), pages.match(turn).pages());
    return atHand < turn.tokens.length() / pages.pageTokens() || hints.pinMillis() > 0;
  }

  private void end(Announced announced) {
    if (announced.ended) {
      return;
    }
    announced.ended = true;
    live.remove(Branch.of(announced.turn.spec.session()), announced);
    if (announced.loadBack != null) {
      announced.loadBack.release();
    }
    idle.drop(announced.turn);
    slots.leave(announced.turn.slot);
  }
}
