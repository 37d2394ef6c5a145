package io.radixflow.cli.local;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Exit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports why a broker ends this process. Kafka halts the process without a message when it cannot
 * write or when a part of it fails.
 */
public final class BrokerFailure {

  private static final Logger LOG = LoggerFactory.getLogger(BrokerFailure.class);

  private final Path directory;
  private final Consumer<String> report;
  private final AtomicBoolean reported = new AtomicBoolean();

  /**
   * @param directory of the broker's data
   * @param report receives the message on the failing thread, right before the process ends
   */
  public BrokerFailure(Path directory, Consumer<String> report) {
    this.directory = directory;
    this.report = report;
  }

  /** From now on, makes Kafka report before it ends the process. */
  public void watch() {
    Exit.setHaltProcedure(this::end);
    Exit.setExitProcedure(this::end);
  }

  private void end(int status, String message) {
    if (reported.compareAndSet(false, true)) {
      String text = text(message);
      LOG.error("{}", text);
      report.accept(text);
    }
    Runtime.getRuntime().halt(status == 0 ? 1 : status);
  }

  /**
   * @param message Kafka's message, or null
   */
  String text(String message) {
    StringBuilder text = new StringBuilder("the Kafka broker of this process gave up");
    if (message != null && !message.isBlank()) {
      text.append(": ").append(message.strip());
    }
    problems().forEach(problem -> text.append("; ").append(problem));
    return text.toString();
  }

  private List<String> problems() {
    try {
      return LocalLimits.of(directory).problems(directory);
    } catch (IOException e) {
      return List.of(directory + " cannot be used: " + e.getMessage());
    }
  }
}
