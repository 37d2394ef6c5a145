package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import io.radixflow.models.ModelFormatException;
import io.radixflow.operators.flink.ScriptedEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.IntFunction;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.Test;

class EngineOpeningTest {
  private long now;
  private int tries;

  private ServingEngine open(IntFunction<ServingEngine> nth) throws Exception {
    TestEngineFactory factory = TestEngineFactory.of("opening", () -> nth.apply(++tries));
    return new EngineLease.Shared(
            factory, EngineDirectory.NONE, end -> {}, () -> now, time -> now += time.toNanos())
        .engine();
  }

  private static ServingEngine full(int nth) {
    throw new OutOfDeviceMemoryException("2 MB free", new IllegalStateException("the driver's"));
  }

  @Test
  void memoryThatComesBackIsWaitedFor() throws Exception {
    ScriptedEngine engine = new ScriptedEngine(4096, 6);
    ServingEngine serving = new ServingEngine(engine, engine.model());
    assertThat(open(nth -> nth < 4 ? full(nth) : serving)).isSameAs(serving);
    assertThat(tries).isEqualTo(4);
  }

  @Test
  void memoryThatStaysTakenEndsTheJobWithTheNumbers() {
    assertThatThrownBy(() -> open(EngineOpeningTest::full))
        .isInstanceOf(SuppressRestartsException.class)
        .hasRootCauseMessage("the engine does not open: 2 MB free");
    assertThat(now).isEqualTo(EngineLease.Shared.PATIENCE.toNanos());
  }

  @Test
  void aFailureThatWouldRepeatEndsTheJobAtOnce() {
    for (RuntimeException failure :
        new RuntimeException[] {
          new IllegalArgumentException("no such device"), new ModelFormatException("no such model")
        }) {
      tries = 0;
      assertThatThrownBy(
              () ->
                  open(
                      nth -> {
                        throw failure;
                      }))
          .isInstanceOf(SuppressRestartsException.class)
          .hasRootCauseMessage("the engine does not open: " + failure.getMessage());
      assertThat(tries).isEqualTo(1);
    }
  }

  @Test
  void aPassingFailureIsLeftToARestart() {
    UncheckedIOException failure = new UncheckedIOException(new IOException("a hub that is down"));
    assertThatThrownBy(
            () ->
                open(
                    nth -> {
                      throw failure;
                    }))
        .isSameAs(failure);
  }
}
