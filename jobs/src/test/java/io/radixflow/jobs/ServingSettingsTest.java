package io.radixflow.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.session.ServingOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServingSettingsTest {

  @Test
  void aReplyHasNoLimitUnlessTheOperatorBoundsIt() {
    assertThat(ServingSettings.operator(settings()).prompts().defaultMaxTokens())
        .isEqualTo(ServingOptions.Prompts.NO_LIMIT);
    Settings bounded = settings("generation.max-tokens=2000");
    assertThat(ServingSettings.operator(bounded).prompts().defaultMaxTokens()).isEqualTo(2000);
  }

  @Test
  void settingsWithWhichASubtaskOverflowsItsEngineAreRefused() {
    assertThatExceptionOfType(SettingsException.class)
        .isThrownBy(() -> engine(settings("engine.max-waiting=255")))
        .withMessage(
            "operator.max-running is 256, with 1 subtask on an engine 256; engine.max-waiting is"
                + " 255: lower the one or raise the other");
    assertThat(engine(settings("engine.max-waiting=256"))).isNotNull();
  }

  @Test
  void aNamespaceKeyIsDrawnForEachSubmissionUnlessOneIsGiven() {
    Settings without = settings();
    assertThat(ServingSettings.operator(without).namespaces().key())
        .isNotEqualTo(ServingSettings.operator(without).namespaces().key());
    Settings given = settings("cache.namespace-key=k3y");
    assertThat(ServingSettings.operator(given).namespaces().key())
        .isEqualTo(ServingSettings.operator(given).namespaces().key())
        .isEqualTo(NamespaceKey.of("k3y"));
    assertThat(ServingSettings.operator(given).toString()).doesNotContain("k3y");
  }

  @Test
  void systemPromptsAreSharedByTheTenantsThatAreNamed() {
    assertThat(ServingSettings.operator(settings()).namespaces().sharing()).isEmpty();
    assertThat(
            ServingSettings.operator(settings("cache.shared-system-prompts=a;b"))
                .namespaces()
                .sharing())
        .containsExactlyInAnyOrder("a", "b");
  }

  private static EngineFactory engine(Settings settings) {
    return ServingSettings.engine(settings, name -> SimModel.open(SimOptions.DEFAULT));
  }

  private static Settings settings(String... assignments) {
    Settings settings = new SettingsLoader().set(List.of(assignments)).load();
    assertThat(settings.get(RadixflowOptions.MAX_RUNNING)).isEqualTo(256);
    return settings;
  }
}
