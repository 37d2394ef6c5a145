package io.radixflow.cli.flink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** The settings of a Flink whose ports only this machine can reach. */
public final class LoopbackFlink {

  /** The first port at which {@code up} and {@code cluster} offer metrics. */
  public static final int METRICS_PORT = 9249;

  /**
   * The only site whose pages may read Flink's answers. It has no pages, because its top-level
   * domain is reserved for names that do not exist. Flink's default lets every page of the internet
   * read the answers.
   */
  static final String NO_SITE = "http://flink.invalid";

  /** Read by {@link WebGuardFactory}; without this option the web port is not guarded. */
  static final ConfigOption<WebAccess> WEB_ACCESS =
      ConfigOptions.key("radixflow.web.access").enumType(WebAccess.class).noDefaultValue();

  private LoopbackFlink() {}

  /**
   * Returns the settings of a JobManager, a TaskManager, or both in one process.
   *
   * @param metricsPorts a port or a range of ports for metrics in Prometheus' format; a process
   *     takes the first free port of the range; {@code 0} for any port
   */
  public static Map<String, String> settings(WebAccess access, String metricsPorts) {
    Map<String, String> settings = new HashMap<>(web(access));
    settings.put("jobmanager.rpc.address", Ports.LOOPBACK);
    settings.put("jobmanager.bind-host", Ports.LOOPBACK);
    settings.put("taskmanager.host", Ports.LOOPBACK);
    settings.put("taskmanager.bind-host", Ports.LOOPBACK);
    settings.put(
        "metrics.reporter.prom.factory.class", LoopbackPrometheusReporterFactory.class.getName());
    settings.put("metrics.reporter.prom.port", metricsPorts);
    return settings;
  }

  /** Returns only the settings of the web port. */
  public static Map<String, String> web(WebAccess access) {
    return Map.of(
        "rest.address",
        Ports.LOOPBACK,
        "rest.bind-address",
        Ports.LOOPBACK,
        "web.submit.enable",
        "false",
        "web.cancel.enable",
        "false",
        "web.rescale.enable",
        "false",
        "web.access-control-allow-origin",
        NO_SITE,
        WEB_ACCESS.key(),
        access.name());
  }
}
