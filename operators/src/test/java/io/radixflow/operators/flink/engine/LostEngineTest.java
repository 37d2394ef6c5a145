package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.EngineLostException;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.LosableBackend;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LostEngineTest {
  private final List<LosableBackend> devices = new ArrayList<>();
  private final List<Throwable> ends = new ArrayList<>();

  private ServingEngine open() {
    SimModel model = SimModel.open(SimOptions.DEFAULT);
    Backend device = model.openBackend(DeviceOptions.DEFAULT);
    LosableBackend losable = new LosableBackend(device);
    devices.add(losable);
    return new ServingEngine(
        ContinuousBatchingEngine.open(losable.backend(), model.tokenizer(), EngineOptions.DEFAULT),
        model);
  }

  private EngineLease.Shared shared(TestEngineFactory factory, EngineLease.Pause pause)
      throws Exception {
    return new EngineLease.Shared(factory, EngineDirectory.NONE, ends::add, () -> 0, pause);
  }

  @Test
  void anEngineWhoseDeviceIsLostIsOpenedAgainOnceThenTheProcessEnds() throws Exception {
    TestEngineFactory factory = TestEngineFactory.of("losable", this::open);
    try (EngineLease.Shared shared = shared(factory, time -> {})) {
      ServingEngine first = shared.engine();
      assertThat(shared.engine()).isSameAs(first);

      devices.get(0).lose(first.engine());
      ServingEngine second = shared.engine();
      assertThat(second).isNotSameAs(first);
      assertThat(shared.engine()).isSameAs(second);
      assertThat(ends).isEmpty();

      devices.get(1).lose(second.engine());
      assertThatThrownBy(shared::engine)
          .isInstanceOf(EngineLostException.class)
          .hasMessageContaining("the engine's device is lost: ");
      assertThat(ends).hasSize(1);
      assertThat(devices).hasSize(2);
    }
  }

  @Test
  void memoryThatTheLostEngineGivesBackLateIsWaitedFor() throws Exception {
    AtomicInteger refusals = new AtomicInteger();
    TestEngineFactory factory =
        TestEngineFactory.of(
            "late",
            () -> {
              if (refusals.getAndDecrement() > 0) {
                throw new OutOfDeviceMemoryException("2 MB free", null);
              }
              return open();
            });
    List<Duration> pauses = new ArrayList<>();
    try (EngineLease.Shared shared = shared(factory, pauses::add)) {
      ServingEngine first = shared.engine();
      devices.get(0).lose(first.engine());
      refusals.set(2);
      assertThat(shared.engine()).isNotSameAs(first);
      assertThat(pauses).hasSize(2);
      assertThat(ends).isEmpty();
    }
  }
}
