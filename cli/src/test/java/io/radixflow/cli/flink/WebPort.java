package io.radixflow.cli.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Requests that a stranger, or a page of another site, makes to Flink's web port. */
public final class WebPort {

  private static final String OTHER_SITE = "https://example.org";
  private static final String YARN = "/jobs/00000000000000000000000000000000/yarn-";
  private static final String ALLOWED_SITE = "access-control-allow-origin";

  private final HttpClient client = HttpClient.newHttpClient();
  private final URI address;

  /**
   * @param address of the port, without a path
   */
  public WebPort(URI address) {
    this.address = address;
  }

  /** Waits until a JobManager leads; Flink answers 503 before. */
  public void awaitLeader() {
    await()
        .atMost(Duration.ofMinutes(2))
        .until(() -> client.send(get("/overview"), BodyHandlers.discarding()).statusCode() == 200);
  }

  /** Asserts that no jar is taken from anyone, and nothing at all is sent to another site. */
  public void assertClosedToStrangers() throws Exception {
    awaitLeader();
    assertThat(upload("/jars/upload").statusCode()).isBetween(400, 499);
    assertThat(client.send(get("/jars"), BodyHandlers.ofString()).statusCode()).isIn(403, 404);

    HttpResponse<String> plain = client.send(get("/overview"), BodyHandlers.ofString());
    assertThat(plain.statusCode()).isEqualTo(200);
    assertThat(plain.headers().firstValue(ALLOWED_SITE)).hasValue(LoopbackFlink.NO_SITE);

    HttpResponse<String> crossSite =
        client.send(
            request("/overview").header("Origin", OTHER_SITE).build(), BodyHandlers.ofString());
    assertThat(crossSite.statusCode()).isEqualTo(403);
    assertThat(crossSite.headers().firstValue(ALLOWED_SITE)).isEmpty();
    HttpResponse<String> crossSiteJob =
        client.send(
            multipart("/jobs").header("Origin", OTHER_SITE).build(), BodyHandlers.ofString());
    assertThat(crossSiteJob.statusCode()).isEqualTo(403);

    assertThat(statusLine("GET /overview HTTP/1.1\r\nHost: flink.example.org\r\n\r\n"))
        .contains(" 403 ");
    assertThat(
            statusLine(
                "GET /overview HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: http://localhost:%d\r\n\r\n"
                    .formatted(address.getPort(), address.getPort())))
        .contains(" 200 ");
    assertThat(statusLine("GET /overview HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"))
        .contains(" 403 ");
    assertClosedToParts();
  }

  /** Asserts that a page of another site neither shows a part of Flink's page nor ends a job. */
  private void assertClosedToParts() throws Exception {
    for (String site : List.of("cross-site", "same-site")) {
      assertThat(status(request("/overview").header("Sec-Fetch-Site", site))).isEqualTo(403);
      assertThat(status(framed("/overview", site))).isEqualTo(403);
      assertThat(status(followed("/overview", site))).isEqualTo(200);
      assertThat(status(followed(YARN + "cancel", site))).isEqualTo(403);
    }
    assertThat(status(request("/overview").header("Sec-Fetch-Site", "same-origin"))).isEqualTo(200);
    for (String path :
        List.of(
            YARN + "cancel",
            YARN + "stop",
            YARN + "%63ancel",
            YARN.replace("-", "%2d") + "cancel/",
            "/v1" + YARN + "cancel",
            YARN.toUpperCase(Locale.ROOT) + "CANCEL?mode=cancel")) {
      assertThat(status(request(path))).as(path).isEqualTo(403);
    }
  }

  private HttpRequest.Builder framed(String path, String site) {
    return request(path)
        .header("Sec-Fetch-Site", site)
        .header("Sec-Fetch-Mode", "navigate")
        .header("Sec-Fetch-Dest", "iframe");
  }

  private HttpRequest.Builder followed(String path, String site) {
    return request(path)
        .header("Sec-Fetch-Site", site)
        .header("Sec-Fetch-Mode", "navigate")
        .header("Sec-Fetch-Dest", "document");
  }

  private int status(HttpRequest.Builder request) throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.discarding()).statusCode();
  }

  /** Posts something that is a jar or a job graph by its form. */
  public HttpResponse<String> upload(String path) throws IOException, InterruptedException {
    return client.send(multipart(path).build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder multipart(String path) {
    String body =
        """
        --part\r
        Content-Disposition: form-data; name="jarfile"; filename="evil.jar"\r
        Content-Type: application/x-java-archive\r
        \r
        PK\r
        --part--\r
        """;
    return request(path)
        .header("Content-Type", "multipart/form-data; boundary=part")
        .POST(BodyPublishers.ofString(body));
  }

  private HttpRequest get(String path) {
    return request(path).build();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(address.resolve(path));
  }

  /** Sends what Java's client would not: a Host header of one's own. */
  private String statusLine(String request) throws IOException {
    try (Socket socket = new Socket(address.getHost(), address.getPort())) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      StringBuilder line = new StringBuilder();
      for (int c = socket.getInputStream().read(); c > '\r'; c = socket.getInputStream().read()) {
        line.append((char) c);
      }
      return line.toString();
    }
  }
}
