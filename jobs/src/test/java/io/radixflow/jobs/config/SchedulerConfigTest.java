package io.radixflow.jobs.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.SchedulerOptions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SchedulerConfigTest {

  @Test
  void theDefaultsAreThoseOfTheEngine() {
    assertThat(SchedulerConfig.scheduler(SettingsLoader.defaults()))
        .isEqualTo(SchedulerOptions.DEFAULT);
  }

  @Test
  void eachOptionReachesTheScheduler() {
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "scheduler.policy=routing-key",
                    "scheduler.seed=7",
                    "scheduler.ageing=4",
                    "scheduler.low-priority-first=true",
                    "scheduler.preemption-threshold=0",
                    "scheduler.step-stretch=1.5",
                    "scheduler.prompt-slowdown=0",
                    "scheduler.tenant-weights=acme:3,beta:2"))
            .load();
    assertThat(SchedulerConfig.scheduler(settings))
        .isEqualTo(
            new SchedulerOptions(
                SchedulePolicy.ROUTING_KEY,
                7,
                4,
                true,
                0,
                new SchedulerOptions.Sharing(1.5, 0),
                Map.of("acme", 3, "beta", 2)));
  }
}
