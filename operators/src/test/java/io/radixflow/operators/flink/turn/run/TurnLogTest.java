package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each turn that has ended is one line of the log. */
@Timeout(180)
class TurnLogTest {
  private static final String LOGGER = "io.radixflow.turns";

  private static final class Lines extends AbstractAppender {
    private final List<String> lines = new ArrayList<>();

    Lines() {
      super("lines", null, null, true, Property.EMPTY_ARRAY);
    }

    @Override
    public synchronized void append(LogEvent event) {
      lines.add(event.getLevel() + " " + event.getMessage().getFormattedMessage());
    }

    synchronized List<String> of(String session) {
      return lines.stream().filter(line -> line.contains("session=\"" + session + "\"")).toList();
    }
  }

  private final LoggerContext context = (LoggerContext) LogManager.getContext(false);
  private final Lines log = new Lines();

  @BeforeEach
  void listen() {
    log.start();
    LoggerConfig config = new LoggerConfig(LOGGER, Level.INFO, false);
    config.addAppender(log, Level.INFO, null);
    context.getConfiguration().addLogger(LOGGER, config);
    context.updateLoggers();
  }

  @AfterEach
  void stop() {
    context.getConfiguration().removeLogger(LOGGER);
    context.updateLoggers();
  }

  @Test
  void aTurnThatRanIsOneLineWithItsTokensAndTimesAndWithoutItsText() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("log a", "t1").of("acme"), Events.message("log a", "t2").of("acme"));
      h.settle();
      List<String> lines = log.of("log a");
      assertThat(lines).hasSize(2);
      assertThat(lines.get(0))
          .startsWith(
              "INFO session=\"log a\" turn=\"t1\" branch=\"main\" tenant=\"acme\" finish=stop"
                  + " prompt_tokens="
                  + h.reply("t1").usage().promptTokens()
                  + " cached_tokens=0 completion_tokens=7 queue_ms=")
          .containsPattern(" queue_ms=\\d+ ttft_ms=\\d+ total_ms=\\d+$")
          .doesNotContain("text of", h.reply("t1").text());
      assertThat(lines.get(1)).contains("turn=\"t2\"");
    }
  }

  @Test
  void aTurnThatEndsBeforeItRunsIsALineAndSoIsOneThatIsRefused() throws Exception {
    ServingOptions one = Options.with(options -> options.maxRunning = 1);
    try (ServingHarness h = ServingHarness.opened(one)) {
      h.send(Events.message("log b", "t1"), Events.message("log b", "t2"));
      h.send(Events.of(EventKind.CANCEL, "log b", "t2"));
      h.send(Events.message("log b", "t3").with(Events.priority(101))).settle();
      assertThat(log.of("log b"))
          .anySatisfy(line -> assertThat(line).contains("\"t2\"", "finish=cancelled queue_ms="))
          .anySatisfy(line -> assertThat(line).contains("\"t3\"").endsWith("finish=rejected"))
          .hasSize(3);
    }
  }

  @Test
  void anIdCannotForgeALine() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("log \"c\\\u2028\u00e4", "t1\nINFO session=\"x\"")).settle();
      assertThat(log.of("log \\\"c\\\\\\u2028\\u00e4")).hasSize(1);
      assertThat(log.of("x")).isEmpty();
      assertThat(log.of("log \\\"c\\\\\\u2028\\u00e4").get(0))
          .contains("turn=\"t1\\u000aINFO session=\\\"x\\\"\"")
          .doesNotContain("\n");
    }
  }

  @Test
  void aForkIsNoLine() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("log d", "t1"), Events.fork("log d", "f", "b", null)).settle();
      assertThat(log.of("log d")).hasSize(1);
    }
  }
}
