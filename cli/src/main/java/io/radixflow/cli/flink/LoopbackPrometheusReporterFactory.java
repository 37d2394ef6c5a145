package io.radixflow.cli.flink;

import java.util.Properties;
import org.apache.flink.metrics.prometheus.LoopbackPrometheusReporter;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.apache.flink.util.NetUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates Flink's Prometheus reporter, but lets it listen on loopback instead of all interfaces. As
 * in Flink, the option {@code port} is a port or a range. Flink finds this class as a service.
 */
public final class LoopbackPrometheusReporterFactory implements MetricReporterFactory {

  private static final Logger LOG =
      LoggerFactory.getLogger(LoopbackPrometheusReporterFactory.class);

  @Override
  public MetricReporter createMetricReporter(Properties properties) {
    String ports = properties.getProperty("port", Integer.toString(LoopbackFlink.METRICS_PORT));
    LoopbackPrometheusReporter reporter =
        LoopbackPrometheusReporter.start(NetUtils.getPortRangeFromString(ports));
    LOG.info("Metrics are at http://{}:{}/metrics", Ports.LOOPBACK, reporter.port());
    return reporter;
  }
}
