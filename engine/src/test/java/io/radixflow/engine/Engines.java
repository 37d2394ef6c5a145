package io.radixflow.engine;

import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** Engines on the simulated device, and what must hold when they are idle. */
public final class Engines {
  private Engines() {}

  public static Engine open(SimOptions sim, EngineOptions options) {
    return ContinuousBatchingEngine.open(SimModel.open(sim), DeviceOptions.DEFAULT, options);
  }

  /** An engine that checks every page after every step, on a device that poisons freed pages. */
  public static Engine open(EngineOptions.Builder options) {
    return open(SimOptions.DEFAULT.withPoison(true), options.auditMillis(0).build());
  }

  /** Lower-case letters that the seed decides; other seeds differ from the first letters on. */
  public static int[] letters(int seed, int length) {
    Random random = new Random(seed);
    int[] ids = new int[length];
    for (int i = 0; i < length; i++) {
      ids[i] = 'a' + random.nextInt(26);
    }
    if (length > 0) {
      ids[0] = 'A' + seed;
    }
    return ids;
  }

  public static int[] concat(int[]... parts) {
    return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
  }

  /** Returns an engine's statistics as they are after all that it has done before this call. */
  public static EngineStats stats(Engine engine) {
    onEngineThread(engine); // in an iteration that has not published its statistics yet
    EngineStats before = engine.stats();
    onEngineThread(engine);
    await().until(() -> engine.stats() != before);
    return engine.stats();
  }

  private static void onEngineThread(Engine engine) {
    ((ContinuousBatchingEngine) engine)
        .onTiers(tiers -> true)
        .orTimeout(Patience.DURATION.toSeconds(), TimeUnit.SECONDS)
        .join();
  }

  /** Waits until no page is in use and no session known. */
  public static void awaitEmpty(Engine engine) {
    await()
        .untilAsserted(
            () -> {
              EngineStats stats = stats(engine);
              assertThat(stats.pool().freePages()).isEqualTo(stats.pool().totalPages());
              assertThat(stats.sessions().known()).isZero();
            });
  }

  /** Waits until nothing runs, then checks that each page is free or evictable. */
  public static EngineStats awaitIdle(Engine engine) {
    // window parts are also locked while they are copied to the host
    EngineStats stats =
        await()
            .until(() -> stats(engine), now -> isIdle(now) && now.pool().windows().locked() == 0);
    assertThat(
            stats.pool().freePages()
                + stats.pool().evictablePages()
                + stats.pool().protectedPages()
                + stats.sessions().pages())
        .isEqualTo(stats.pool().totalPages());
    assertThat(stats.sessions().hot()).isZero();
    assertThat(stats.pool().repairs()).isZero();
    return stats;
  }

  public static boolean isIdle(EngineStats stats) {
    return stats.scheduler().runningRequests() + stats.scheduler().waitingRequests() == 0
        && stats.pool().inFlightPages() == 0
        && stats.pool().protectedPages() <= stats.sessions().pinnedPages();
  }
}
