package io.radixflow.jobs.state;

/**
 * A session in a savepoint, in figures; a Flink POJO.
 *
 * @param session its id
 * @param tenant its owner, empty for none
 * @param life {@code open}, {@code closed}, {@code erased}, or {@code unopened} if only events that
 *     open nothing came
 * @param branches branches that have turns
 * @param turns finished turns that are kept, of all branches
 * @param tokens ids that are kept of them
 * @param characters of their messages and replies and of the system prompt
 * @param pending turns without a reply
 * @param turnIds turn ids that are known to have been used
 * @param lastEvent milliseconds since the epoch
 */
public record SavedSession(
    String session,
    String tenant,
    String life,
    int branches,
    int turns,
    long tokens,
    long characters,
    int pending,
    int turnIds,
    long lastEvent) {}
