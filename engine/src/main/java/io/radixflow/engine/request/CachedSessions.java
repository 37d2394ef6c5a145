package io.radixflow.engine.request;

import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.session.CacheSlot;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sessions that the engine knows: sessions with requests, and sessions that left pages in the
 * cache. Any thread.
 *
 * <p>A request joins its session's slot when it is submitted, and keeps it. Closing removes the
 * slot. A request that was submitted before ends on the closed slot and leaves no pages, no matter
 * when it ends. A request submitted later gets a new slot, even with the same session id.
 */
public final class CachedSessions {

  private record Entry(CacheSlot slot, int requests) {}

  private final ConcurrentHashMap<String, Entry> entries = new ConcurrentHashMap<>();

  /** Returns the slot of a request's session, or null if it has none. */
  public CacheSlot join(SessionRef ref) {
    if (ref == null) {
      return null;
    }
    return entries.compute(
            ref.session(),
            (id, entry) ->
                entry == null
                    ? new Entry(new CacheSlot(id, ref.tenant()), 1)
                    : new Entry(entry.slot, entry.requests + 1))
        .slot;
  }

  /** Counts another request of a slot; returns false if the slot was removed. */
  public boolean rejoin(CacheSlot slot) {
    Entry entry =
        entries.computeIfPresent(
            slot.session(),
            (id, old) -> old.slot == slot ? new Entry(slot, old.requests + 1) : old);
    return entry != null && entry.slot == slot;
  }

  /** Counts a request as ended; the request has no pages. */
  public void leave(CacheSlot slot) {
    if (slot != null) {
      update(slot, -1);
    }
  }

  /** Removes a slot without positions, unless it has requests; engine thread. */
  public void dropped(CacheSlot slot) {
    update(slot, 0);
  }

  private void update(CacheSlot slot, int change) {
    entries.computeIfPresent(
        slot.session(),
        (id, entry) -> {
          if (entry.slot != slot) {
            return entry;
          }
          int requests = entry.requests + change;
          return requests == 0 && slot.isEmpty() ? null : new Entry(slot, requests);
        });
  }

  /** Removes a session's slot; null if there is none. */
  public CacheSlot remove(String session) {
    Entry entry = entries.remove(session);
    return entry == null ? null : entry.slot;
  }

  /** Closes all slots; pages of their requests are not kept. */
  public void closeAll() {
    for (String session : entries.keySet()) {
      CacheSlot slot = remove(session);
      if (slot != null) {
        slot.close();
      }
    }
  }
}
