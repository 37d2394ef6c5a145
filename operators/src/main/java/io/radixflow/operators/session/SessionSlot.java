package io.radixflow.operators.session;

import java.util.HashMap;
import java.util.Map;

/**
 * The small part of a session's state that every event reads and writes; a Flink POJO. History,
 * turns under way and turn ids lie beside it, so that an event does not rewrite them.
 *
 * @param life whether the session takes turns
 * @param opened whether an {@code open} or a first message has fixed owner and system prompt
 * @param tenant owner, empty for the default tenant
 * @param cacheSalt separates cached pages further; empty for none
 * @param system where older builds kept the system prompt; null
 * @param defaults the session's generation options, or null
 * @param nextId the next number for a turn; numbers order turns within the session
 * @param offsets highest offset read so far, by partition
 * @param lastEvent when the last event came, milliseconds since the epoch
 * @param servedBy the engine that made the last reply, or null
 * @param erasures how many erasures of tenants came before the session was opened
 * @param pages where the session's pages were when that was last known, or null for not at all
 * @param prompted whether it has a system prompt, which is the {@link Turn#root} of its history
 * @param moved whether other engines made replies before, and may have pages of the session
 */
public record SessionSlot(
    Life life,
    boolean opened,
    String tenant,
    String cacheSalt,
    String system,
    GenerationOptions defaults,
    long nextId,
    Map<Integer, Long> offsets,
    long lastEvent,
    String servedBy,
    long erasures,
    SessionPages pages,
    boolean prompted,
    boolean moved) {

  /** Whether a session takes turns. */
  public enum Life {
    OPEN,
    CLOSED,
    ERASED
  }

  /** The slot of a session that nobody has named yet. */
  public static final SessionSlot NEW =
      new SessionSlot(
          Life.OPEN, false, "", "", null, null, 1, Map.of(), 0, null, 0, null, false, false);

  /** Whether an event was read before, judged by its place in the log. */
  public boolean hasRead(Origin origin) {
    return inLog(origin) && origin.offset() <= offsets.getOrDefault(origin.partition(), -1L);
  }

  /** After an event. */
  public SessionSlot touched(Origin origin, long now) {
    Map<Integer, Long> read = offsets;
    if (inLog(origin)) {
      read = new HashMap<>(offsets);
      read.put(origin.partition(), origin.offset());
    }
    return new SessionSlot(
        life, opened, tenant, cacheSalt, system, defaults, nextId, read, now, servedBy, erasures,
        pages, prompted, moved);
  }

  /** Opened with its owner and parameters, after so many erasures of tenants. */
  public SessionSlot opened(
      String owner,
      String salt,
      boolean hasSystemPrompt,
      GenerationOptions sessionDefaults,
      long erasuresBefore) {
    return new SessionSlot(
        life,
        true,
        owner,
        salt,
        null,
        sessionDefaults,
        nextId,
        offsets,
        lastEvent,
        servedBy,
        erasuresBefore,
        pages,
        hasSystemPrompt,
        moved);
  }

  /** With its system prompt in its history. */
  public SessionSlot promptMoved() {
    return new SessionSlot(
        life, opened, tenant, cacheSalt, null, defaults, nextId, offsets, lastEvent, servedBy,
        erasures, pages, true, moved);
  }

  /** With {@link #nextId} counted up. */
  public SessionSlot numbered() {
    return new SessionSlot(
        life,
        opened,
        tenant,
        cacheSalt,
        system,
        defaults,
        nextId + 1,
        offsets,
        lastEvent,
        servedBy,
        erasures,
        pages,
        prompted,
        moved);
  }

  /**
   * After a reply by an engine.
   *
   * @param elsewhere whether another one may have begun it
   */
  public SessionSlot served(String engine, boolean elsewhere) {
    return new SessionSlot(
        life,
        opened,
        tenant,
        cacheSalt,
        system,
        defaults,
        nextId,
        offsets,
        lastEvent,
        engine,
        erasures,
        pages,
        prompted,
        elsewhere || wasElsewhere(engine));
  }

  /** Whether engines other than this one have made replies. */
  public boolean wasElsewhere(String engine) {
    return moved || servedBy != null && !servedBy.equals(engine);
  }

  /** With its pages in other places. */
  public SessionSlot located(SessionPages places) {
    return new SessionSlot(
        life, opened, tenant, cacheSalt, system, defaults, nextId, offsets, lastEvent, servedBy,
        erasures, places, prompted, moved);
  }

  /** Closed: keeps its owner and what it has read, nothing of the conversation. */
  public SessionSlot closed() {
    return new SessionSlot(
        Life.CLOSED,
        true,
        tenant,
        cacheSalt,
        null,
        null,
        nextId,
        offsets,
        lastEvent,
        null,
        erasures,
        null,
        false,
        false);
  }

  /** Erased: keeps only what it has read. */
  public SessionSlot erased() {
    return new SessionSlot(
        Life.ERASED,
        true,
        "",
        "",
        null,
        null,
        nextId,
        offsets,
        lastEvent,
        null,
        0,
        null,
        false,
        false);
  }

  private static boolean inLog(Origin origin) {
    return origin != null && origin.partition() >= 0;
  }
}
