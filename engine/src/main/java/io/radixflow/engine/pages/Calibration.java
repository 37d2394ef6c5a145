package io.radixflow.engine.pages;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Uninterruptibly;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Measures loading and computing before the first request, so that the engine can choose between
 * them. The measurements write free pages, which nothing reads.
 */
public final class Calibration {
  private static final Logger LOG = LoggerFactory.getLogger(Calibration.class);
  private static final int TOKENS = 64;

  /** The only token at which the simulated model never ends the process. */
  private static final int TOKEN = 0;

  /** The number of rounds; the first round is slower than the others and does not count. */
  private static final int ROUNDS = 3;

  private Calibration() {}

  /**
   * Runs the measurements. A failure is only logged, because steps on such a device will fail with
   * more detail.
   */
  public static void run(Backend backend, KvPages pages, int contextLength) {
    int tokens = Math.min(TOKENS, Math.min(contextLength, backend.maxBatchRows()));
    try {
      pages.tiers().calibrate(() -> prefill(backend, pages, tokens));
    } catch (RuntimeException e) {
      LOG.warn("Loading and computing could not be measured: {}", e.toString());
    }
  }

  private static void prefill(Backend backend, KvPages pages, int tokens) {
    int[] table = new int[(tokens + pages.pageTokens() - 1) / pages.pageTokens()];
    for (int i = 0; i < table.length; i++) {
      table[i] = i;
    }
    for (int round = 0; round < ROUNDS; round++) {
      Batch batch = new Batch();
      batch.beginChunk(table, table.length, 0);
      for (int i = 0; i < tokens; i++) {
        batch.token(TOKEN);
      }
      long began = System.nanoTime();
      StepTicket ticket = backend.submit(batch);
      Uninterruptibly.await(ticket::await);
      if (round > 0 && ticket.failure() == null) {
        pages.tiers().computed(0, tokens, System.nanoTime() - began);
      }
    }
  }
}
