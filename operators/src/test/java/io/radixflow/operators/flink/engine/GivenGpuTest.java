package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.EngineOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.tiers.ModelEngineFactory;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalResourceOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.junit.jupiter.api.Test;

class GivenGpuTest {

  /** A GPU as Flink's driver provides it. */
  private record Gpu(String index) implements ExternalResourceInfo {
    @Override
    public Optional<String> getProperty(String key) {
      return key.equals("index") ? Optional.of(index) : Optional.empty();
    }

    @Override
    public Collection<String> getKeys() {
      return List.of("index");
    }
  }

  private static String chosen(String device, String resources, String... gpus) {
    Configuration cluster = new Configuration();
    if (resources != null) {
      cluster.set(ExternalResourceOptions.EXTERNAL_RESOURCE_LIST, List.of(resources));
    }
    ModelEngineFactory factory =
        new ModelEngineFactory(
            null, "model", new DeviceOptions(device, 0, null), EngineOptions.DEFAULT);
    List<ExternalResourceInfo> given =
        Arrays.stream(gpus).map(index -> (ExternalResourceInfo) new Gpu(index)).toList();
    return ((ModelEngineFactory) EngineLease.onGivenGpu(factory, cluster, given)).device().device();
  }

  @Test
  void theFirstGpuThatFlinkGaveIsTaken() {
    assertThat(chosen("cuda", "gpu", "3", "2")).isEqualTo("cuda:2");
    assertThat(chosen("auto", "gpu", "5")).isEqualTo("cuda:5");
  }

  @Test
  void aDeviceThatIsNamedStays() {
    assertThat(chosen("cuda:1", "gpu", "3")).isEqualTo("cuda:1");
    assertThat(chosen("cpu", "gpu", "3")).isEqualTo("cpu");
  }

  @Test
  void aClusterWithoutTheResourceChangesNothing() {
    assertThat(chosen("cuda", null)).isEqualTo("cuda");
    assertThat(chosen("auto", "fpga")).isEqualTo("auto");
  }

  @Test
  void aGpuThatIsAskedForAndNotGivenIsAnError() {
    assertThat(chosen("auto", "gpu")).isEqualTo("auto");
    assertThatThrownBy(() -> chosen("cuda", "gpu"))
        .isInstanceOf(SuppressRestartsException.class)
        .rootCause()
        .hasMessageContaining("given none");
  }
}
