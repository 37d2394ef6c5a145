package io.radixflow.gateway.http;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.slf4j.LoggerFactory;

/**
 * Writes the log of the span exporter as lines of the gateway's log. The exporter uses Java's own
 * logging, with stack traces.
 */
final class ExporterLog extends Handler {

  /** A reference to the logger, because Java's logging forgets loggers without one. */
  private static final Logger EXPORTER = Logger.getLogger("io.opentelemetry.exporter");

  private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(Tracing.class);

  private final SimpleFormatter formatter = new SimpleFormatter();

  static {
    EXPORTER.setUseParentHandlers(false);
    EXPORTER.addHandler(new ExporterLog());
  }

  private ExporterLog() {}

  /** Redirects the exporter's log from now on. */
  static void install() {
    EXPORTER.setLevel(Level.WARNING);
  }

  @Override
  public void publish(LogRecord entry) {
    String message = formatter.formatMessage(entry).strip();
    Throwable cause = entry.getThrown();
    LOG.warn("{}{}", message, cause == null ? "" : ": " + cause);
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
