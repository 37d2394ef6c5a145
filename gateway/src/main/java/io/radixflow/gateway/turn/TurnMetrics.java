package io.radixflow.gateway.turn;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.function.IntSupplier;

/** Counts turns and times their pieces. Thread-safe. */
final class TurnMetrics {

  private final Histogram firstPiece;
  private final Histogram betweenPieces;
  private final Counter cutOff;

  /**
   * @param followed returns the current number of followed turns
   */
  TurnMetrics(PrometheusRegistry registry, IntSupplier followed) {
    firstPiece =
        Histogram.builder()
            .name("radixflow_gateway_time_to_first_token_seconds")
            .help("Time from sending a turn's event to the first text of its reply")
            .unit(Unit.SECONDS)
            .classicUpperBounds(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60)
            .classicOnly()
            .register(registry);
    betweenPieces =
        Histogram.builder()
            .name("radixflow_gateway_inter_delta_seconds")
            .help("Time between deltas of a turn")
            .unit(Unit.SECONDS)
            .classicUpperBounds(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5)
            .classicOnly()
            .register(registry);
    cutOff =
        Counter.builder()
            .name("radixflow_gateway_slow_clients_cut_off")
            .help("Streams that were cut off because their client read too slowly")
            .register(registry);
    GaugeWithCallback.builder()
        .name("radixflow_gateway_turns_in_flight")
        .help("Followed turns, and answers that have not come yet")
        .callback(callback -> callback.call(followed.getAsInt()))
        .register(registry);
  }

  /** Starts to time the pieces of a turn. */
  Clock clock() {
    return new Clock();
  }

  /** Times the pieces of one turn. Not thread-safe. */
  final class Clock {
    private long last = System.nanoTime();
    private boolean hasPiece;

    /** Called with whether a record of the turn has added a piece. */
    void took(boolean piece) {
      if (piece) {
        long now = System.nanoTime();
        (hasPiece ? betweenPieces : firstPiece).observe((now - last) / 1e9);
        hasPiece = true;
        last = now;
      }
    }

    /** Called when the listener of the turn is cut off. */
    void cutOff() {
      cutOff.inc();
    }
  }
}
