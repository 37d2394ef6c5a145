package io.radixflow.operators.engine;

import io.radixflow.kernels.device.Batch;
import io.radixflow.operators.cache.CacheSlot;
import io.radixflow.operators.cache.PrefixMatch;
import io.radixflow.operators.cache.SessionAwareCache;
import io.radixflow.operators.cache.SessionPlace;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Computes what next turns begin with while there is nothing else to do: one at a time, in short
 * steps, on free pages only. Whatever it did lies in the cache, so that it is given up for any real
 * request after the step under way, and taken up again afterwards. Engine thread only.
 */
final class IdlePrefill {
  /** Most rows of a step: what a real request may have to wait for. */
  private static final int STEP_ROWS = 32;

  /** Sessions that may wait to be computed ahead; of more, the oldest are forgotten. */
  private static final int MAX_WAITING = 1024;

  private record Prefix(Request turn, SessionPlace place, int[] tokens) {}

  private final KvPages pages;
  private final SessionSlots slots;
  private final int contextLength;
  private final Map<CacheSlot, Prefix> waiting = new LinkedHashMap<>();
  private Request current;
  private long tokens;

  IdlePrefill(KvPages pages, SessionSlots slots, int contextLength) {
    this.pages = pages;
    this.slots = slots;
    this.contextLength = contextLength;
  }

  /** Tokens computed ahead. */
  long tokens() {
    return tokens;
  }

  /** What holds pages now, or null. */
  Request current() {
    return current;
  }

  /**
   * Takes what a session's next turn will begin with.
   *
   * @param turn the turn before
   * @param place where the session is in the cache
   */
  void offer(Request turn, SessionPlace place, int[] next) {
    if (next.length >= contextLength) {
      return;
    }
    waiting.remove(turn.slot);
    waiting.put(turn.slot, new Prefix(turn, place, next));
    if (waiting.size() > MAX_WAITING) {
      waiting.remove(waiting.keySet().iterator().next());
    }
  }

  /**
   * Gives pages back that are not needed any more, or that a real request may need.
   *
   * @param busy whether there are other requests
   */
  void review(boolean busy) {
    if (current == null || current.stepsInFlight > 0) {
      return;
    }
    boolean done = current.computed == current.length;
    if (busy || done || current.slot.isClosed()) {
      Request ended = current;
      current = null;
      pages.commit(ended);
      SessionPlace end = pages.release(ended);
      slots.leave(ended.slot);
      if (!done && end != null) {
        offer(ended, end, ended.tokens);
      }
    }
  }

  /** Fills a step if nothing else does; false if there is nothing to compute. */
  boolean plan(Step step) {
    if (current == null && !next()) {
      return false;
    }
    if (current.stepsInFlight > 0) {
      return false;
    }
    int rows = Math.min(STEP_ROWS, current.length - current.scheduled);
    Batch batch = step.batch;
    batch.beginChunk(pages.table(current), current.pages, current.scheduled);
    for (int i = 0; i < rows; i++) {
      batch.token(current.tokens[current.scheduled + i]);
    }
    step.add(current, current.scheduled, rows, -1);
    current.scheduled += rows;
    current.stepsInFlight++;
    tokens += rows;
    return true;
  }

  private boolean next() {
    Iterator<Prefix> each = waiting.values().iterator();
    while (current == null && each.hasNext()) {
      Prefix prefix = each.next();
      each.remove();
      CacheSlot slot = prefix.turn.slot;
      if (SessionAwareCache.isPlaceOf(slot, prefix.place) && slots.rejoin(slot)) {
        current = Request.ahead(prefix.turn, prefix.place, prefix.tokens);
        PrefixMatch match = pages.match(current);
        if (!pages.admitFree(current, match)) {
          slots.leave(slot);
          current = null;
        }
      }
    }
    return current != null;
  }

  /** The step under way failed. */
  void failed() {
    current.failed = true;
    current.length = current.computed;
  }

  /** Forgets everything; the pool has been emptied. */
  void abandon() {
    waiting.clear();
    if (current != null) {
      current.row = -1;
      slots.leave(current.slot);
      current = null;
    }
  }
}
