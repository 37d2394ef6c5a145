package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.gateway.GatewayFixture;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConsolePagesTest {

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  @TempDir Path directory;

  private HttpResponse<String> get(String path, String... headers) {
    HttpRequest request = gateway.get(path);
    if (headers.length > 0) {
      request = HttpRequest.newBuilder(request, (n, v) -> true).headers(headers).build();
    }
    return gateway.send(request).join();
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse("");
  }

  @ParameterizedTest
  @CsvSource({
    "/, text/html; charset=utf-8, <main",
    "/live, text/html; charset=utf-8, <main",
    "/console/base.css, text/css; charset=utf-8, :root",
    "/console/base.js, text/javascript; charset=utf-8, export",
    "/console/icon.svg, image/svg+xml, <svg",
    "/console/lib/marked.js, text/javascript; charset=utf-8, export"
  })
  void eachFileHasItsContentTypeAndAPolicyWithoutInlineScripts(
      String path, String type, String content) {
    HttpResponse<String> response = get(path);
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).contains(content).doesNotContain("sourceMappingURL");
    assertThat(header(response, "content-type")).isEqualTo(type);
    assertThat(header(response, "x-content-type-options")).isEqualTo("nosniff");
    assertThat(header(response, "referrer-policy")).isEqualTo("no-referrer");
    assertThat(header(response, "content-security-policy"))
        .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
        .doesNotContain("unsafe");
  }

  @Test
  void aReadersCopyThatIsStillTheSameIsNotSentAgain() {
    String tag = header(get("/"), "etag");
    HttpResponse<String> again = get("/", "If-None-Match", tag);
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(get("/", "If-None-Match", "\"0\"").statusCode()).isEqualTo(200);
  }

  @Test
  void headHasTheHeadersOfGet() {
    HttpRequest head =
        HttpRequest.newBuilder(gateway.uri("/"))
            .method("HEAD", HttpRequest.BodyPublishers.noBody())
            .build();
    HttpResponse<String> response = gateway.send(head).join();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(header(response, "etag")).isEqualTo(header(get("/"), "etag"));
    assertThat(response.body()).isEmpty();
  }

  @Test
  void pagesAreServedWithoutAnApiKeyButDataIsNot() throws IOException {
    Path keys = directory.resolve("keys.jsonl");
    Files.writeString(keys, "");
    gateway.restart("gateway.port=0", "model=sim", "gateway.api-keys=" + keys);
    assertThat(get("/").statusCode()).isEqualTo(200);
    assertThat(get("/console/base.js").statusCode()).isEqualTo(200);
    assertThat(get("/v1/models").statusCode()).isEqualTo(401);
  }

  @Test
  void otherResourcesOfTheClassPathAreNotServed() {
    for (String path :
        List.of(
            "/console/",
            "/console/frame.html",
            "/console/../log4j2-test.properties",
            "/console/%2e%2e/log4j2-test.properties",
            "/META-INF/MANIFEST.MF",
            "/console/lib/../base.js")) {
      assertThat(get(path).statusCode()).as(path).isEqualTo(404);
    }
  }

  @Test
  void everyFileOfTheConsoleIsServed() throws IOException, URISyntaxException {
    Path console =
        Path.of(Objects.requireNonNull(ConsolePages.class.getResource("/console/base.css")).toURI())
            .getParent();
    try (Stream<Path> files = Files.list(console)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> !name.endsWith(".html"))
          .containsExactlyInAnyOrderElementsOf(ConsolePages.FILES);
    }
  }
}
