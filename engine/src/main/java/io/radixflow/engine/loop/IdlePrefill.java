package io.radixflow.engine.loop;

import io.radixflow.engine.cache.session.CacheSlot;
import io.radixflow.engine.cache.session.SessionAwareCache;
import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.CachedSessions;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.Step;
import io.radixflow.kernels.device.Batch;
import io.radixflow.protocol.record.FinishReason;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Computes the beginnings of next prompts while there is nothing else to do: one at a time, in
 * short steps, on free pages only. It stops after the step in flight when a real request comes, and
 * resumes later from the pages that it has put into the cache. Engine thread only.
 */
final class IdlePrefill {
  /** Most rows of a step, because a real request may have to wait for the step. */
  private static final int STEP_ROWS = 32;

  /** Sessions that may wait to be computed ahead; beyond that, the oldest are dropped. */
  private static final int MAX_WAITING = 1024;

  /**
   * The beginning of a next prompt.
   *
   * @param turn the turn before it, or the turn itself if it was announced
   * @param position the session's position in the cache; null if it does not matter
   * @param left runs when the prefix is computed or no longer wanted
   */
  private record Prefix(Request turn, SessionPosition position, int[] tokens, Runnable left) {}

  private final KvPages pages;
  private final CachedSessions slots;
  private final int contextLength;
  private final boolean enabled;
  private final Map<CacheSlot, Prefix> waiting = new LinkedHashMap<>();

  /** The prefix that is computed or looked up in lower tiers; null if it must be released. */
  private Prefix prefix;

  private Request current;
  private long tokens;

  /**
   * @param enabled if false, every offer is refused
   */
  IdlePrefill(KvPages pages, CachedSessions slots, int contextLength, boolean enabled) {
    this.enabled = enabled;
    this.pages = pages;
    this.slots = slots;
    this.contextLength = contextLength;
  }

  /** Returns the number of tokens computed ahead. */
  long tokens() {
    return tokens;
  }

  /** Returns the request that holds pages now, or null. */
  Request current() {
    return current != null && current.pages.isHeld() ? current : null;
  }

  /**
   * Queues the beginning of a session's next prompt.
   *
   * @param turn the turn before the prompt
   * @param position the session's position in the cache
   */
  void offer(Request turn, SessionPosition position, int[] next) {
    offer(new Prefix(turn, position, next, () -> {}));
  }

  /**
   * Queues an expected turn's prompt.
   *
   * @param left runs once, when the prompt is computed or given up
   */
  void offer(Request expected, Runnable left) {
    offer(
        new Prefix(
            expected, null, Arrays.copyOf(expected.tokens.ids(), expected.tokens.length()), left));
  }

  private void offer(Prefix offered) {
    if (!enabled || offered.tokens.length >= contextLength) {
      offered.left.run();
      return;
    }
    Prefix before = waiting.remove(offered.turn.slot);
    waiting.put(offered.turn.slot, offered);
    if (before != null) {
      before.left.run();
    }
    if (waiting.size() > MAX_WAITING) {
      Iterator<Prefix> oldest = waiting.values().iterator();
      Prefix dropped = oldest.next();
      oldest.remove();
      dropped.left.run();
    }
  }

  /** Drops an expected turn that has come, or will not come. */
  void drop(Request expected) {
    waiting.values().removeIf(each -> each.turn == expected);
    if (prefix != null && prefix.turn == expected) {
      prefix = null;
      if (expected.isWithdrawn()) {
        current.withdraw();
      }
      if (!current.pages.isHeld()) {
        giveBack();
      }
    }
  }

  /**
   * Releases pages that are no longer needed, or that a real request may need.
   *
   * @param busy whether there are other requests
   */
  void review(boolean busy) {
    if (current == null || current.steps.inFlight() > 0) {
      return;
    }
    boolean done = current.pages.isHeld() && current.steps.computed() == current.tokens.length();
    if (busy || done || prefix == null || current.slot.isClosed()) {
      Prefix given = prefix;
      boolean hadPages = current.pages.isHeld();
      SessionPosition end = giveBack();
      if (given != null) {
        SessionPosition position = hadPages ? end : given.position;
        if (done || hadPages && end == null) {
          given.left.run();
        } else {
          offer(new Prefix(given.turn, position, given.tokens, given.left));
        }
      }
    }
  }

  /** Releases the current request; returns its session's position, or null if it had no pages. */
  private SessionPosition giveBack() {
    Request ended = current;
    current = null;
    prefix = null;
    SessionPosition end = null;
    if (!ended.pages.isHeld()) {
      pages.loads().drop(ended);
    } else {
      pages.commit(ended);
      end = pages.release(ended);
    }
    slots.leave(ended.slot);
    return end;
  }

  /** Fills a step if nothing else does; false if there is nothing to compute. */
  boolean plan(Step step) {
    if (!hasPages() || current.steps.inFlight() > 0 || prefix == null) {
      return false;
    }
    int rows =
        pages.prepare(
            current, Math.min(STEP_ROWS, current.tokens.length() - current.steps.scheduled()));
    if (rows <= 0) {
      return false;
    }
    Batch batch = step.batch;
    batch.beginChunk(pages.table(current), current.pages.count(), current.steps.scheduled());
    for (int i = 0; i < rows; i++) {
      batch.token(current.tokens.id(current.steps.scheduled() + i));
    }
    step.add(current, current.steps.scheduled(), rows, -1);
    current.steps.submit(rows);
    tokens += rows;
    return true;
  }

  /** Returns whether the current request has pages, or there are free pages for the next one. */
  private boolean hasPages() {
    while (current != null || begin()) {
      if (current.pages.isHeld()) {
        return true;
      }
      if (pages.loads().mustWait(current)) {
        return false;
      }
      if (pages.admitFree(current, pages.match(current))) {
        return true;
      }
      Prefix refused = prefix;
      giveBack();
      refused.left.run();
    }
    return false;
  }

  /** Begins with the next prefix; looks for an expected turn's pages below the device. */
  private boolean begin() {
    while (!waiting.isEmpty()) {
      Iterator<Prefix> first = waiting.values().iterator();
      Prefix next = first.next();
      first.remove();
      CacheSlot slot = next.turn.slot;
      boolean valid =
          next.position == null
              ? !slot.isClosed()
              : SessionAwareCache.isPositionOf(slot, next.position);
      if (valid && slots.rejoin(slot)) {
        prefix = next;
        current = Request.ahead(next.turn, next.position, next.tokens);
        if (current.isExpected()) {
          pages.loads().look(current);
        }
        return true;
      }
      next.left.run();
    }
    return false;
  }

  /** Gives up the current request, whose step failed. */
  void failed() {
    current.finish(FinishReason.ERROR);
    current.tokens.cut(current.steps.computed());
  }

  /** Drops everything, because the pool has been emptied. */
  void abandon() {
    List<Prefix> all = List.copyOf(waiting.values());
    waiting.clear();
    if (current != null) {
      Prefix given = prefix;
      pages.loads().drop(current);
      pages.forget(current);
      slots.leave(current.slot);
      current = null;
      prefix = null;
      if (given != null) {
        given.left.run();
      }
    }
    all.forEach(each -> each.left.run());
  }
}
