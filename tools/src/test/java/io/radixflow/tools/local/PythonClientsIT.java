package io.radixflow.tools.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.radixflow.gateway.Gateway;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.config.SettingsLoader;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Has the official Python clients, which pip installs, talk to gateways. Skipped where pip cannot
 * install them; with {@code RADIXFLOW_REQUIRE_CLIENTS=true} that is a failure.
 */
@Tag("slow")
class PythonClientsIT {

  private static final Path SCRIPTS = Path.of("src/test/python").toAbsolutePath();
  private static final Path PACKAGES = Path.of("target/python-clients").toAbsolutePath();
  private static final long MINUTES = 10;

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
            ServingSettings.engine(settings, name -> SimModel.open(SimOptions.DEFAULT)),
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
                PACKAGES.toString(),
                "-r",
                SCRIPTS.resolve("requirements.txt").toString())
            == 0;
    if (!installed) {
      String why = "pip cannot install the clients: " + Files.readString(log);
      assertThat("true".equals(System.getenv("RADIXFLOW_REQUIRE_CLIENTS"))).as(why).isFalse();
      assumeTrue(false, why);
    }
  }

  private static int run(Path log, String... command) throws Exception {
    Process process;
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .redirectInput(new File("/dev/null"));
      builder.environment().put("PYTHONPATH", PACKAGES.toString());
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

  @ParameterizedTest
  @ValueSource(strings = {"openai_client.py", "anthropic_client.py"})
  void aClientIsServedAsByItsOwnService(String script) throws Exception {
    Path log = Files.createTempFile(logs, "clients", ".log");
    int status = run(log, "python3", SCRIPTS.resolve(script).toString(), url(gateway), url(other));
    assertThat(status).as(Files.readString(log)).isZero();
  }

  private static String url(Gateway gateway) {
    return gateway.uri().toString().replaceAll("/$", "");
  }
}
