package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.Engines;
import io.radixflow.engine.Patience;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a tenant has at intake delays another tenant by the work that runs, and no more. */
@Timeout(180)
class IntakeFairnessTest {
  private static final int FLOOD = 1000;
  private static final EngineOptions OPTIONS = EngineOptions.builder().maxWaiting(10_000).build();

  private final Semaphore gate = new Semaphore(0, true);
  private final CountDownLatch busy = new CountDownLatch(OPTIONS.intakeThreads());
  private final List<String> order = Collections.synchronizedList(new ArrayList<>());

  /** A request whose prompt is made only while the gate is open. */
  private EngineRequestBuilder request(String tenant) {
    return EngineRequest.builder(
            tenant,
            () -> {
              busy.countDown();
              gate.acquireUninterruptibly();
              order.add(tenant);
              return new int[] {65};
            },
            1)
        .service(new ServiceClass(tenant, 0, ""));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The first tasks go through one after the other, so that no thread overtakes another. */
  private void openGate() {
    for (int done = 1; done <= 2 * OPTIONS.intakeThreads(); done++) {
      gate.release();
      int least = done;
      Patience.await().until(() -> order.size() >= least);
    }
    gate.release(FLOOD);
  }

  /** The threads have a task each; then the other tenant's is next. */
  private void assertNextAfterRunning(String tenant) {
    assertThat(order.indexOf(tenant)).isBetween(0, 2 * OPTIONS.intakeThreads());
    assertThat(order).hasSize(FLOOD + 1);
  }

  @Test
  void aTurnWaitsForTheTurnsThatRunWhateverAnotherTenantHasQueued() {
    try (Engine engine = Engines.open(OPTIONS.toBuilder());
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < FLOOD; i++) {
        ids.add(client.submit(request("flood").build()));
      }
      await(busy);
      ids.add(client.submit(request("patient").build()));
      openGate();
      ids.forEach(client::await);
      assertNextAfterRunning("patient");
    }
  }

  @Test
  void soDoesALookForPages() {
    try (Engine engine = Engines.open(OPTIONS.toBuilder());
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < FLOOD; i++) {
        ids.add(client.submit(request("flood").build()));
      }
      await(busy);
      var located =
          engine.locate(
              "patient",
              "",
              () -> {
                order.add("patient");
                return new int[] {65};
              });
      openGate();
      located.join();
      ids.forEach(client::await);
      assertNextAfterRunning("patient");
    }
  }

  @Test
  void soDoesATurnWhoseGrammarIsCompiledWhileAnotherTenantSendsGrammars() {
    try (Engine engine = Engines.open(OPTIONS.toBuilder());
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < FLOOD; i++) {
        GrammarSpec refused = new GrammarSpec(Kind.REGEX, "(" + i);
        ids.add(client.submit(request("flood").grammar(prompt -> refused).build()));
      }
      await(busy);
      GrammarSpec right = new GrammarSpec(Kind.REGEX, "a");
      ids.add(client.submit(request("patient").grammar(prompt -> right).build()));
      openGate();
      ids.forEach(client::await);
      assertThat(client.await(ids.get(FLOOD)).error).isNull();
      assertNextAfterRunning("patient");
    }
  }
}
