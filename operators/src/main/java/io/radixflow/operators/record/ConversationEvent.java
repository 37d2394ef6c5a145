package io.radixflow.operators.record;

import java.util.List;

/**
 * A parsed event of one session; a Flink POJO. One that is not valid passes too, if it says which
 * turn is to be answered: so that it is answered once, however often it is sent.
 *
 * @param kind what is asked
 * @param session root id of the session: the key
 * @param branch branch within the session; {@code main} unless forked
 * @param turn id of the turn, opaque, unique within the session; for {@code cancel} the turn to
 *     cancel (null: whatever the branch runs or queues); null where an event has none
 * @param tenant owner, empty for the default tenant
 * @param cacheSalt separates cached pages further; empty for none
 * @param messages {@code open}: at most a system message; {@code message}: the new turn's messages
 * @param options generation options; of {@code open}: the session's defaults; null for none
 * @param replace whether a turn of the branch that runs or waits is cancelled in this one's favour,
 *     instead of being waited for
 * @param newBranch {@code fork}: the branch to make
 * @param atTurn {@code fork}, {@code regenerate}: the last turn that is kept, or the turn whose
 *     reply is made again; null for the latest
 * @param origin where the event was read
 * @param error what is wrong with it, for its sender; null if it is valid
 * @param cache what the turn's cached pages are worth, or null
 * @param source the record's value as it was read, in case it ends in the dead letters; null where
 *     it does not
 */
public record ConversationEvent(
    EventKind kind,
    String session,
    String branch,
    String turn,
    String tenant,
    String cacheSalt,
    List<Message> messages,
    GenerationOptions options,
    boolean replace,
    String newBranch,
    String atTurn,
    Origin origin,
    String error,
    CacheHints cache,
    byte[] source) {

  /** The branch of a session that was not forked. */
  public static final String MAIN_BRANCH = "main";

  /** A valid event. */
  public ConversationEvent(
      EventKind kind,
      String session,
      String branch,
      String turn,
      String tenant,
      String cacheSalt,
      List<Message> messages,
      GenerationOptions options,
      boolean replace,
      String newBranch,
      String atTurn,
      Origin origin) {
    this(
        kind, session, branch, turn, tenant, cacheSalt, messages, options, replace, newBranch,
        atTurn, origin, null, null, null);
  }

  /**
   * An event that is not valid.
   *
   * @param kind what it asks for, or null if that cannot be told
   * @param branch its branch, or null if that cannot be told
   * @param turn the turn to answer
   */
  public static ConversationEvent invalid(
      EventKind kind, String session, String branch, String turn, Origin origin, String error) {
    return new ConversationEvent(
        kind,
        session,
        branch == null ? MAIN_BRANCH : branch,
        turn,
        "",
        "",
        List.of(),
        null,
        false,
        null,
        null,
        origin,
        error,
        null,
        null);
  }

  /** This event with hints about the cache. */
  public ConversationEvent withCache(CacheHints hints) {
    return new ConversationEvent(
        kind, session, branch, turn, tenant, cacheSalt, messages, options, replace, newBranch,
        atTurn, origin, error, hints, source);
  }

  /** This event with its record's value. */
  public ConversationEvent withSource(byte[] value) {
    return new ConversationEvent(
        kind, session, branch, turn, tenant, cacheSalt, messages, options, replace, newBranch,
        atTurn, origin, error, cache, value);
  }
}
