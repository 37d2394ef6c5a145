package io.radixflow.gateway.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.HttpFront;
import io.radixflow.gateway.http.HttpMetrics;
import io.radixflow.gateway.http.Routes;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The live page in a browser, with data that the test makes up. */
class ConsoleLivePageTest {

  @RegisterExtension static final Chromium CHROMIUM = new Chromium();

  private static final String TREE =
      """
      {"status":"ok","skipped":0,"engines":[{"name":"vm-0","state":"live","silent":false,
       "block_size":16,"nodes_total":45,"tokens_total":2000,"nodes":[
       {"id":"a","parent":-1,"start":0,"tokens":80,"below":1920,"ends":9,"space":0,
        "stored_at":1,"hidden":41,"hidden_tokens":656,"tiers":["device","host"]},
       {"id":"b","parent":0,"start":80,"tokens":160,"below":0,"ends":1,"space":0,
        "stored_at":1,"hidden":0,"hidden_tokens":0,"tiers":["device"]},
       {"id":"c","parent":0,"start":80,"tokens":96,"below":32,"ends":2,"space":2,
        "stored_at":1,"hidden":0,"hidden_tokens":0,"tiers":["host"]},
       {"id":"d","parent":2,"start":176,"tokens":32,"below":0,"ends":1,"space":2,
        "stored_at":1,"hidden":0,"hidden_tokens":0,"tiers":["disk","remote"]}]}]}
      """;

  private final AtomicInteger samples = new AtomicInteger();
  private volatile String metrics;
  private volatile String tree = TREE;
  private volatile boolean forbidden;
  private HttpFront front;

  @BeforeEach
  void start() throws IOException {
    Routes routes = new Routes();
    new ConsolePages().addTo(routes);
    routes.add(
        HttpMethod.GET,
        "/v1/models",
        exchange -> exchange.json(200, "{\"data\":[{\"id\":\"sim\"}]}".getBytes(UTF_8)));
    routes.add(
        HttpMethod.GET,
        "/live/metrics",
        exchange -> {
          if (forbidden) {
            throw new ApiException(403, "permission_error", null, null, "no operator's key");
          }
          exchange.json(200, (metrics == null ? figures() : metrics).getBytes(UTF_8));
        });
    routes.add(HttpMethod.GET, "/live/tree", exchange -> exchange.json(200, tree.getBytes(UTF_8)));
    front =
        HttpFront.start(
            new SettingsLoader().set(List.of("gateway.port=0", "model=sim")).load(),
            routes,
            new HttpMetrics(new PrometheusRegistry()));
  }

  @AfterEach
  void stop() {
    front.close();
  }

  /** The next sample: in a second 120 tokens are generated, 25 prefilled, and 75 cached. */
  private String figures() {
    int second = samples.incrementAndGet();
    return """
    {"status":"ok","job":"RUNNING","subtasks":2,"engines":1,"uptime_ms":%d,
     "metrics":{"turnsAccepted":9,"turnsRunning":3,"turnsPending":5,"sessionsOpen":14,
     "sessionsHot":3,"sessionsWarm":8,"sessionsCold":2,"sessionsGone":1,"engineSteps":%d,
     "engineTokensGenerated":%d,"engineTokensPrefilled":%d,"engineTokensCached":%d,
     "requestsRunning":3,"requestsWaiting":0,"timeToFirstTokenMillis_median":31,
     "timeToFirstTokenMillis_p99":210,"pages":605,"pagesFree":500,"pagesEvictable":60,
     "pagesProtected":40,"hostPages":100,"hostPagesUsed":50,"tier.disk.storePages":7,
     "tier.disk.storeBytes":1048576,"tier.disk.storeBytesLimit":4194304},
     "checkpoints":{"completed":7,"failed":1,"in_progress":0,"last_at":2,
     "last_duration_ms":60,"last_bytes":2048,"last_state_bytes":4096,"failed_at":1}}
    """
        .formatted(
            second * 1000, second * 40, second * 120, 1000 + second * 25, 1000 + second * 75);
  }

  private Page open() {
    Page page = CHROMIUM.open();
    page.go(front.uri().resolve("/live"));
    return page;
  }

  @Test
  void figuresAreShownAsRatesAndShares() {
    Page page = open();
    page.await("document.getElementById('decode').textContent === '120'");
    assertThat(page.text("#prefill")).isEqualTo("25");
    assertThat(page.text("#hits")).isEqualTo("75.0%");
    assertThat(page.text("#sessions")).isEqualTo("14 open");
    assertThat(page.text("#sessions-legend")).contains("3\nhot", "8\nwarm", "2\ncold", "1\ngone");
    assertThat(page.text("#running")).isEqualTo("3");
    assertThat(page.text("#waiting")).isEqualTo("2 waiting");
    assertThat(page.text("#ttft")).isEqualTo("31 ms");
    assertThat(page.text("#tiers")).contains("105 of 605", "50 of 100", "1.0 MiB of 4.0 MiB");
    assertThat(page.text("#checkpoints")).contains("60 ms", "2.0 KiB new of 4.0 KiB");
    assertThat(page.text("#state-text")).isEqualTo("Running · 2 subtasks · 1 engine");
    assertThat(page.eval("document.querySelector('#chart-tokens svg').ariaLabel").asText())
        .startsWith("Tokens per second: decode 120");
  }

  @Test
  void theTreeShowsSharedPrefixesAndCountsWhatItDoesNotDraw() {
    Page page = open();
    page.await("document.querySelectorAll('[role=treeitem]').length === 4");
    assertThat(page.text("#tree")).contains("80 tokens, shared by 9", "… 41 more");
    assertThat(page.text("#tree-sub"))
        .isEqualTo("2,000 tokens in 45 nodes; 41 smaller ones are not drawn");
    page.click("#by-tier");
    assertThat(page.eval("document.querySelector('[aria-level=\"3\"] rect').className.baseVal"))
        .hasToString("\"k3\"");
    page.click("#as-table summary");
    page.await("document.querySelectorAll('#tree-rows tr').length === 4");
    assertThat(page.text("#tree-rows")).contains("device, host", "tenant 2");
  }

  @Test
  void theTreeIsWalkedWithTheKeyboard() {
    Page page = open();
    page.await("document.querySelectorAll('[role=treeitem]').length === 4");
    page.tabTo("[role=treeitem]");
    assertThat(page.text("#node")).startsWith("80 tokens from token 0 on; shared by 9");
    page.press("ArrowDown");
    assertThat(page.text("#node")).startsWith("160 tokens from token 80 on; not shared");
    page.press("ArrowDown");
    page.press("ArrowDown");
    assertThat(page.text("#node")).contains("in the tiers disk, remote", "namespace of tenant 2");
    page.press("ArrowUp");
    page.press("ArrowUp");
    page.press("ArrowUp");
    assertThat(page.text("#node")).startsWith("80 tokens");
  }

  @Test
  void aPageThatIsPausedAsksForNothing() {
    Page page = open();
    page.await("document.getElementById('decode').textContent === '120'");
    page.click("#pause");
    page.await("document.getElementById('state-text').textContent === 'Paused'");
    page.click("#pause");
    page.awaitText("Running · 2 subtasks");
  }

  @Test
  void whatIsMissingIsSaidAndShownAgainWhenItIsBack() {
    metrics = "{\"status\":\"failed\",\"message\":\"Flink does not answer\"}";
    tree = "{\"status\":\"failed\",\"message\":\"The topic cannot be read\"}";
    Page page = open();
    page.awaitText("Flink does not answer");
    page.awaitText("The topic cannot be read");
    metrics = null;
    tree = TREE;
    page.await("document.getElementById('sessions').textContent === '14 open'");
    page.await("document.querySelectorAll('[role=treeitem]').length === 4");
    assertThat(page.eval("document.getElementById('problem').hidden").asBoolean()).isTrue();
  }

  @Test
  void theLastFiguresStayWithTheirAgeWhileThereAreNoNewOnes() {
    Page page = open();
    page.await("document.getElementById('decode').textContent === '120'");
    metrics = "{\"status\":\"failed\",\"message\":\"Flink does not answer\"}";
    page.awaitText("Flink does not answer (These figures were read");
    assertThat(page.text("#decode")).isEqualTo("120");
    assertThat(page.text("#state-text")).isEqualTo("Old figures");
    metrics = null;
    page.awaitText("Running · 2 subtasks");
  }

  @Test
  void aKeyThatIsNoOperatorsIsSaidToBeNot() {
    forbidden = true;
    Page page = open();
    page.awaitText("no operator's key");
    page.awaitText("Not allowed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void thePageIsAccessibleInBothThemesAndFitsAPhone(String theme) {
    Page page = open();
    page.prefers(theme);
    page.await("document.getElementById('decode').textContent === '120'");
    page.click("#as-table summary");
    page.await("document.querySelectorAll('#tree-rows tr').length === 4");
    assertThat(page.accessibilityViolations()).isEmpty();
    page.viewport(390, 800);
    page.await("document.documentElement.scrollWidth <= 390");
    assertThat(page.accessibilityViolations()).isEmpty();
  }
}
