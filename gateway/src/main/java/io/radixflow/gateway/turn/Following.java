package io.radixflow.gateway.turn;

import java.util.concurrent.Executor;

/**
 * Options for following a turn.
 *
 * @param executor runs the listener; must run tasks in order, one at a time, like an event loop
 * @param committed whether the turn ends with the committed reply instead of the last delta
 * @param buffer the most characters that may wait for a paused listener; beyond it the listener is
 *     cut off
 * @param observer is called in addition to the listener
 */
public record Following(Executor executor, boolean committed, int buffer, TurnObserver observer) {}
