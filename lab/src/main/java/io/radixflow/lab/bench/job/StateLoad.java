package io.radixflow.lab.bench.job;

import io.radixflow.cli.cluster.Waiting;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.cli.local.CheckpointFigures;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.cli.state.StateSeed;
import io.radixflow.client.ConversationClient;
import io.radixflow.lab.bench.Figures;
import io.radixflow.lab.traffic.ConversationSource;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.KafkaTarget;
import io.radixflow.protocol.record.ConversationEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;

/**
 * Sends turns of active sessions at regular intervals, and measures checkpoints and first texts.
 */
final class StateLoad {
  private static final int MAX_TOKENS = 8;
  private static final long PATIENCE_SECONDS = 600;

  /** Time between two polls of checkpoints, because each poll costs the JobManager time. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Checkpoints under load before the first measured checkpoint. */
  private static final int WARM_UP = 1;

  private final int sessions;
  private final double seedSeconds;
  private final Samples firstTexts = new Samples();
  private final List<CheckpointFigures> checkpoints = new ArrayList<>();
  private double startSeconds;
  private long done;
  private long looked;
  private long unmeasured;

  /**
   * @param sessions number of sessions in state
   * @param seedSeconds seconds that writing them took
   */
  StateLoad(int sessions, double seedSeconds) {
    this.sessions = sessions;
    this.seedSeconds = seedSeconds;
  }

  int sessions() {
    return sessions;
  }

  /** Sets the seconds that broker, Flink and the job took to start from the state. */
  void started(double seconds) {
    startSeconds = seconds;
  }

  void awaitCheckpoint(LocalStack stack) throws IOException, InterruptedException {
    Waiting.until(
        "a checkpoint", Duration.ofSeconds(PATIENCE_SECONDS), () -> !stack.checkpoints().isEmpty());
  }

  /** Sends turns until {@code count} measured checkpoints have completed. */
  void run(LocalStack stack, int active, int turn, int count, Duration interval, Progress progress)
      throws IOException, InterruptedException {
    awaitCheckpoint(stack);
    long warm = newest(stack) + WARM_UP;
    done = -WARM_UP;
    looked = System.nanoTime();
    LongFunction<ConversationEvent> turns =
        sent -> {
          if (System.nanoTime() - looked > LOOK_NANOS) {
            looked = System.nanoTime();
            done = newest(stack) - warm;
            progress.detail(done < 0 ? "warming up" : "checkpoint " + done + " of " + count);
          }
          unmeasured += done < 0 ? 1 : 0;
          return done < count ? message(sent % active, turn + 1 + sent / active) : null;
        };
    try (ConversationClient client = new ConversationClient(stack.settings())) {
      client.failWith(stack.end());
      Driver.paced(new KafkaTarget(client, false), turns, interval.toNanos() / active).stream()
          .skip(unmeasured)
          .forEach(reply -> firstTexts.add(reply.firstSeconds()));
    }
    for (CheckpointFigures checkpoint : stack.checkpoints()) {
      if (checkpoint.id() > warm && checkpoints.size() < count) {
        checkpoints.add(checkpoint);
      }
    }
  }

  private static long newest(LocalStack stack) {
    try {
      return stack.checkpoints().stream().mapToLong(CheckpointFigures::id).max().orElse(0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ConversationEvent message(long session, long turn) {
    return ConversationSource.message(
            StateSeed.session(session), "bench-" + turn, "And the number " + turn + "?", MAX_TOKENS)
        .tenant(StateSeed.tenant(session))
        .build();
  }

  private Samples samples(ToLongFunction<CheckpointFigures> figure) {
    Samples samples = new Samples();
    checkpoints.forEach(checkpoint -> samples.add(figure.applyAsLong(checkpoint)));
    return samples;
  }

  void addTo(Figures figures) {
    figures.json().put("sessions", sessions).put("seed_seconds", seedSeconds);
    figures.json().put("start_seconds", startSeconds);
    figures.note("written in %.1f s; started from it in %.1f s", seedSeconds, startSeconds);
    double mebibyte = 1.0 / (1 << 20);
    figures.add("checkpoint, ms", "checkpoint_millis", samples(CheckpointFigures::millis), 1);
    figures.add("  synchronous", "sync_millis", samples(CheckpointFigures::syncMillis), 1);
    figures.add("  asynchronous", "async_millis", samples(CheckpointFigures::asyncMillis), 1);
    figures.add("new, MiB", "new_bytes", samples(CheckpointFigures::newBytes), mebibyte);
    figures.add("all state, MiB", "state_bytes", samples(CheckpointFigures::stateBytes), mebibyte);
    figures.add("first text, ms", "first_text_seconds", firstTexts, 1e3);
  }
}
