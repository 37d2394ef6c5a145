package io.radixflow.operators.flink;

import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalResourceOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The GPU that Flink gave this TaskManager, where the cluster has the external resource {@value
 * #NAME}.
 *
 * <p>Flink itself only warns when it finds no GPU, and hands out an empty set.
 */
final class GpuResource {
  private static final Logger LOG = LoggerFactory.getLogger(GpuResource.class);

  /** The resource's name in {@code external-resources}. */
  static final String NAME = "gpu";

  private static final String INDEX = "index";

  private GpuResource() {}

  /**
   * The opener on the device that Flink gave.
   *
   * @param cluster the TaskManager's configuration
   * @param given what Flink gave under {@value #NAME}
   * @throws SuppressRestartsException if a GPU is asked for and Flink was to give one and did not
   */
  static EngineOpener choose(
      EngineOpener opener, Configuration cluster, Collection<ExternalResourceInfo> given) {
    List<String> resources = cluster.get(ExternalResourceOptions.EXTERNAL_RESOURCE_LIST);
    if (resources == null || !resources.contains(NAME)) {
      return opener;
    }
    int first =
        given.stream()
            .map(info -> info.getProperty(INDEX).orElse(""))
            .filter(index -> index.matches("\\d{1,4}"))
            .mapToInt(Integer::parseInt)
            .min()
            .orElse(-1);
    if (first >= 0) {
      return opener.onGpu(first);
    }
    if (opener.needsGpu()) {
      throw new SuppressRestartsException(
          new IllegalStateException(
              "model.device asks for a GPU, and external-resources names '"
                  + NAME
                  + "', but this TaskManager was given none; its log says why"
                  + " (driver-factory.class, the discovery script, the amount)"));
    }
    LOG.warn("external-resources names '{}', but this TaskManager was given none", NAME);
    return opener;
  }
}
