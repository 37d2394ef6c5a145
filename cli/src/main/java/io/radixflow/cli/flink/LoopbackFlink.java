package io.radixflow.cli.flink;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** The settings of a Flink whose ports are for this machine alone. */
public final class LoopbackFlink {

  /** The first port at which {@code up} and {@code cluster} offer metrics. */
  public static final int METRICS_PORT = 9249;

  /**
   * The one site whose pages may read Flink's answers. No page is there: the top-level domain is
   * reserved for names that do not exist. Flink's default lets every page of the internet read.
   */
  static final String NO_SITE = "http://flink.invalid";

  /** Read by {@link WebGuardFactory}; without it the web port is as Flink leaves it. */
  static final ConfigOption<WebAccess> WEB_ACCESS =
      ConfigOptions.key("radixflow.web.access").enumType(WebAccess.class).noDefaultValue();

  private LoopbackFlink() {}

  /**
   * Returns the settings of a JobManager, a TaskManager, or both in one process.
   *
   * @param metricsPorts a port or a range of ports, of which a process takes the first that is
   *     free, for its metrics in Prometheus' format; {@code 0} for any port
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

  /** Returns the settings of the web port alone. */
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
