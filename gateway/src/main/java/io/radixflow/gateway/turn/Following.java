package io.radixflow.gateway.turn;

import java.util.concurrent.Executor;

/**
 * How a turn is followed.
 *
 * @param executor runs the listener; runs tasks in order, one at a time, as an event loop does
 * @param committed whether the turn ends with the committed reply instead of the last delta
 * @param buffer how many characters may wait for a paused listener; if more wait, the listener is
 *     cut off
 * @param observer hears of the turn in addition to the listener
 */
public record Following(Executor executor, boolean committed, int buffer, TurnObserver observer) {}
