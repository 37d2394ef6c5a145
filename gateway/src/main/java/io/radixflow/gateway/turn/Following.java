package io.radixflow.gateway.turn;

import java.util.concurrent.Executor;

/**
 * How a turn is followed.
 *
 * @param executor runs the listener; runs tasks in order, one at a time, as an event loop does
 * @param committed whether the end is the committed reply rather than the last delta
 * @param buffer characters that may wait for a paused listener; beyond, it is cut off
 * @param observer hears of the turn beside the listener
 */
public record Following(Executor executor, boolean committed, int buffer, TurnObserver observer) {}
