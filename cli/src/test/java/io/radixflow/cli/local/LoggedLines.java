package io.radixflow.cli.local;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/**
 * Keeps what this process logs: all of Radixflow's own lines, of Flink's and Kafka's those from
 * level INFO on.
 */
final class LoggedLines extends AbstractAppender implements AutoCloseable {
  private static final Map<String, Level> LOGGERS =
      Map.of("io.radixflow", Level.ALL, "org.apache", Level.INFO, "kafka", Level.INFO);
  private static final LoggerContext CONTEXT = (LoggerContext) LogManager.getContext(false);

  private final List<String> lines = new ArrayList<>();

  private LoggedLines() {
    super("logged lines", null, null, true, Property.EMPTY_ARRAY);
  }

  static LoggedLines ofAll() {
    LoggedLines lines = new LoggedLines();
    lines.start();
    LOGGERS.forEach(
        (name, level) -> {
          LoggerConfig logger = new LoggerConfig(name, level, false);
          logger.addAppender(lines, level, null);
          CONTEXT.getConfiguration().addLogger(name, logger);
        });
    CONTEXT.updateLoggers();
    return lines;
  }

  @Override
  public synchronized void append(LogEvent event) {
    StringBuilder line = new StringBuilder(event.getMessage().getFormattedMessage());
    for (Throwable t = event.getThrown(); t != null; t = t.getCause()) {
      line.append(' ').append(t);
    }
    lines.add(line.toString());
  }

  synchronized List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    LOGGERS.keySet().forEach(CONTEXT.getConfiguration()::removeLogger);
    CONTEXT.updateLoggers();
    stop();
  }
}
