package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.ServingSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalStackSettingsTest {

  @Test
  void allSubtasksOfALocalStackShareAnEngine(@TempDir Path dir) {
    Settings settings = new SettingsLoader().set(List.of("job.parallelism=5")).load();
    Path own = dir.resolve("stack");
    assertThatExceptionOfType(SettingsException.class)
        .isThrownBy(
            () ->
                LocalStack.start(
                    settings,
                    new LocalStack.Options(Optional.of(own), true, 0, 0),
                    ServingSettings.engine(settings, name -> SimModel.open(SimOptions.DEFAULT)),
                    line -> {}))
        .withMessageContaining("with 5 subtasks on an engine 1280; engine.max-waiting is 1024");
    assertThat(Files.exists(own)).isFalse();
  }
}
