package io.radixflow.engine.schedule;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A process that serves some requests, of which one ends it; prints how each ended, as {@code label
 * finish text}. Arguments: the journal, and the position at which the bad one kills.
 */
final class KillingProcess {
  static final int REQUESTS = 5;
  static final int PROMPT = 40;
  static final int REPLY = 30;
  static final String BAD = "s/bad";
  static final int KILLED = 137;

  private static final int MARK = 200;

  private KillingProcess() {}

  public static void main(String[] args) {
    PrintStream out =
        new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, UTF_8);
    int deadly = Integer.parseInt(args[1]);
    SimOptions sim =
        SimOptions.DEFAULT.withEndOfTurn(0).withTime(300_000, 0).withFault(killer(deadly));
    EngineOptions options = EngineOptions.builder().prefillChunk(16).attempts(2).build();
    try (Engine engine =
            ContinuousBatchingEngine.open(
                SimModel.open(sim), DeviceOptions.DEFAULT, options, null, Path.of(args[0]));
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      List<String> labels = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        labels.add(i == REQUESTS / 2 ? BAD : "s/" + i);
        int[] prompt = Engines.letters(i, PROMPT);
        if (i == REQUESTS / 2) {
          prompt[0] = MARK;
        }
        ids.add(client.submit(EngineRequest.builder(labels.get(i), () -> prompt, REPLY).build()));
      }
      for (int i = 0; i < REQUESTS; i++) {
        EngineClient.Seen seen = client.await(ids.get(i));
        out.println(labels.get(i) + " " + seen.finish + " " + seen.text + " " + seen.error);
      }
    }
  }

  /** Halts when a position of the marked prompt is computed; knows the prompt by its first page. */
  private static io.radixflow.engine.model.SimFault killer(int deadly) {
    Set<Integer> marked = new HashSet<>();
    return batch -> {
      for (int chunk = 0; chunk < batch.chunks(); chunk++) {
        int page = batch.chunkPages(chunk)[0];
        if (batch.chunkPosition(chunk) == 0) {
          marked.remove(page);
          if (batch.rowToken(batch.chunkFirstRow(chunk)) == MARK) {
            marked.add(page);
          }
        }
        if (marked.contains(page) && end(batch, chunk) > deadly) {
          Runtime.getRuntime().halt(KILLED);
        }
      }
    };
  }

  private static int end(Batch batch, int chunk) {
    return batch.chunkPosition(chunk) + batch.chunkRows(chunk);
  }
}
