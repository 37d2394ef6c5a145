package io.radixflow.operators.session;

import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import java.util.HashMap;
import java.util.Map;

/**
 * The small part of a session's state that every event reads and writes; a Flink POJO. History,
 * turns in flight and turn ids are stored separately, so that an event does not rewrite them.
 *
 * @param life whether the session takes turns
 * @param opened whether an {@code open} or a first message has fixed owner and system prompt
 * @param tenant owner, empty for the default tenant
 * @param cacheSalt separates cached pages within the tenant; empty for none
 * @param defaults the session's generation options, or null
 * @param nextId the next number for a turn; numbers order turns within the session
 * @param offsets highest offset read so far, by partition
 * @param lastEvent when the last event came, milliseconds since the epoch
 * @param servedBy the engine that made the last reply, or null
 * @param erasures how many erasures of tenants came before the session was opened
 * @param pages the last known places of the session's pages; null if they were never known
 * @param prompted whether the session has a system prompt, which is the {@link Turn#root} of its
 *     history
 * @param moved whether other engines made replies before, and may have pages of the session
 * @param raw whether its turns are independent prompts without a chat template
 */
public record SessionSlot(
    Life life,
    boolean opened,
    String tenant,
    String cacheSalt,
    GenerationOptions defaults,
    long nextId,
    Map<Integer, Long> offsets,
    long lastEvent,
    String servedBy,
    long erasures,
    SessionPages pages,
    boolean prompted,
    boolean moved,
    boolean raw) {

  /** The stages of a session; only an open one takes turns. */
  public enum Life {
    OPEN,
    CLOSED,
    ERASED
  }

  /** The slot of a session that no event has named yet. */
  public static final SessionSlot NEW =
      new SessionSlot(
          Life.OPEN, false, "", "", null, 1, Map.of(), 0, null, 0, null, false, false, false);

  /**
   * Returns whether an event was read before, according to its position in the log. If it was
   * written after the last event came, it is new at any position, because the log was recreated and
   * begins at 0.
   */
  public boolean hasRead(Origin origin) {
    return inLog(origin)
        && origin.offset() <= offsets.getOrDefault(origin.partition(), -1L)
        && origin.timestamp() <= lastEvent;
  }

  /**
   * Returns whether events of a tenant may concern the session: events of its owner, or of any
   * tenant while it has no owner. It has no owner before it is opened and after it is erased.
   */
  public boolean isOpenTo(String sender) {
    return !opened || life == Life.ERASED || tenant.equals(sender);
  }

  /** Returns this slot after an event. */
  public SessionSlot touched(Origin origin, long now) {
    Copy copy = new Copy(this);
    if (inLog(origin)) {
      copy.offsets = new HashMap<>(offsets);
      copy.offsets.put(origin.partition(), origin.offset());
    }
    copy.lastEvent = now;
    return copy.slot();
  }

  /**
   * Returns this slot as opened with its owner and parameters, and with the number of erasures of
   * tenants so far.
   */
  public SessionSlot opened(
      String owner,
      String salt,
      boolean hasSystemPrompt,
      GenerationOptions sessionDefaults,
      long erasuresBefore) {
    Copy copy = new Copy(this);
    copy.opened = true;
    copy.tenant = owner;
    copy.cacheSalt = salt;
    copy.prompted = hasSystemPrompt;
    copy.defaults = sessionDefaults;
    copy.erasures = erasuresBefore;
    return copy.slot();
  }

  /** Returns this slot of a session whose turns are prompts without a chat template. */
  public SessionSlot asRaw() {
    Copy copy = new Copy(this);
    copy.raw = true;
    return copy.slot();
  }

  /** Returns this slot with {@link #nextId} incremented. */
  public SessionSlot numbered() {
    Copy copy = new Copy(this);
    copy.nextId++;
    return copy.slot();
  }

  /**
   * Returns this slot after a reply by an engine.
   *
   * @param elsewhere whether another engine may have begun the reply
   */
  public SessionSlot served(String engine, boolean elsewhere) {
    Copy copy = new Copy(this);
    copy.servedBy = engine;
    copy.moved = elsewhere || wasElsewhere(engine);
    return copy.slot();
  }

  /** Returns whether engines other than this one have made replies. */
  public boolean wasElsewhere(String engine) {
    return moved || servedBy != null && !servedBy.equals(engine);
  }

  /** Returns this slot with its pages in other tiers. */
  public SessionSlot located(SessionPages places) {
    Copy copy = new Copy(this);
    copy.pages = places;
    return copy.slot();
  }

  /** Returns this slot as closed: it keeps its owner and offsets, but no conversation. */
  public SessionSlot closed() {
    Copy copy = new Copy(NEW);
    copy.life = Life.CLOSED;
    copy.opened = true;
    copy.tenant = tenant;
    copy.cacheSalt = cacheSalt;
    copy.nextId = nextId;
    copy.offsets = offsets;
    copy.lastEvent = lastEvent;
    copy.erasures = erasures;
    return copy.slot();
  }

  /** Returns this slot as erased: it keeps only its offsets. */
  public SessionSlot erased() {
    Copy copy = new Copy(NEW);
    copy.life = Life.ERASED;
    copy.opened = true;
    copy.nextId = nextId;
    copy.offsets = offsets;
    copy.lastEvent = lastEvent;
    return copy.slot();
  }

  private static boolean inLog(Origin origin) {
    return origin != null && origin.partition() >= 0;
  }

  /** A slot that is being changed. */
  private static final class Copy {
    Life life;
    boolean opened;
    String tenant;
    String cacheSalt;
    GenerationOptions defaults;
    long nextId;
    Map<Integer, Long> offsets;
    long lastEvent;
    String servedBy;
    long erasures;
    SessionPages pages;
    boolean prompted;
    boolean moved;
    boolean raw;

    Copy(SessionSlot slot) {
      life = slot.life;
      opened = slot.opened;
      tenant = slot.tenant;
      cacheSalt = slot.cacheSalt;
      defaults = slot.defaults;
      nextId = slot.nextId;
      offsets = slot.offsets;
      lastEvent = slot.lastEvent;
      servedBy = slot.servedBy;
      erasures = slot.erasures;
      pages = slot.pages;
      prompted = slot.prompted;
      moved = slot.moved;
      raw = slot.raw;
    }

    SessionSlot slot() {
      return new SessionSlot(
          life, opened, tenant, cacheSalt, defaults, nextId, offsets, lastEvent, servedBy, erasures,
          pages, prompted, moved, raw);
    }
  }
}
