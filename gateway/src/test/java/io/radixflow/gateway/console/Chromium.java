package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A headless Chromium for the tests of a class; each test has pages of its own, which share storage
 * within the test. Chromium is driven over its own DevTools protocol, which needs no driver and no
 * library.
 *
 * <p>Where no Chromium is installed the tests are skipped; with {@code
 * RADIXFLOW_REQUIRE_CHROMIUM=true} that is a failure.
 */
public final class Chromium implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

  private static final String LISTENS = "DevTools listening on ";

  private final List<Page> pages = new ArrayList<>();
  private Path profile;
  private Process process;
  private DevTools tools;
  private String browserContext;

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    String executable = find();
    if (executable == null) {
      String why = "Chromium is not installed (Debian's package chromium)";
      assertThat("true".equals(System.getenv("RADIXFLOW_REQUIRE_CHROMIUM"))).as(why).isFalse();
      assumeTrue(false, why);
    }
    profile = Files.createTempDirectory("chromium");
    process =
        new ProcessBuilder(
                executable,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--disable-sync",
                "--no-default-browser-check",
                "--no-first-run",
                "--no-proxy-server",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectErrorStream(true)
            .start();
    tools = DevTools.connect(address(process));
  }

  private static String find() {
    for (String name : List.of("chromium", "chromium-browser", "google-chrome")) {
      for (String directory : System.getenv("PATH").split(File.pathSeparator)) {
        Path file = Path.of(directory, name);
        if (Files.isExecutable(file)) {
          return file.toString();
        }
      }
    }
    return null;
  }

  /** Reads the address of the protocol, and has what else Chromium prints be read and dropped. */
  private static String address(Process process) throws IOException {
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    List<String> before = new ArrayList<>();
    String line = output.readLine();
    while (line != null && !line.startsWith(LISTENS)) {
      before.add(line);
      line = output.readLine();
    }
    if (line == null) {
      throw new IOException("Chromium did not start: " + before);
    }
    Thread drain = new Thread(() -> output.lines().forEach(ignored -> {}), "chromium output");
    drain.setDaemon(true);
    drain.start();
    return line.substring(LISTENS.length());
  }

  /** Opens an empty page. */
  public Page open() {
    if (browserContext == null) {
      browserContext =
          tools
              .call(null, "Target.createBrowserContext", DevTools.parameters())
              .get("browserContextId")
              .textValue();
    }
    ObjectNode target =
        DevTools.parameters().put("url", "about:blank").put("browserContextId", browserContext);
    String id = tools.call(null, "Target.createTarget", target).get("targetId").textValue();
    ObjectNode attach = DevTools.parameters().put("targetId", id).put("flatten", true);
    String session = tools.call(null, "Target.attachToTarget", attach).get("sessionId").textValue();
    Page page = new Page(tools, session);
    pages.add(page);
    return page;
  }

  /** Fails if a page logged an error. A violation of the content policy is also an error. */
  @Override
  public void afterEach(ExtensionContext context) {
    List<String> problems = pages.stream().flatMap(page -> page.problems().stream()).toList();
    pages.clear();
    if (browserContext != null) {
      ObjectNode disposed = DevTools.parameters().put("browserContextId", browserContext);
      tools.call(null, "Target.disposeBrowserContext", disposed);
      browserContext = null;
    }
    if (context.getExecutionException().isEmpty()) {
      assertThat(problems).as("what the pages logged").isEmpty();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    if (process == null) {
      return;
    }
    tools.close();
    process.destroy();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
    try (Stream<Path> files = Files.walk(profile)) {
      // its helper processes may still write
      files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
  }
}
