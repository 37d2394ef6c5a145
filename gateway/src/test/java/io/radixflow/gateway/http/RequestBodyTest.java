package io.radixflow.gateway.http;

import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Usage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that are compressed, or that are not the JSON that all readers read alike. */
class RequestBodyTest {

  private static final String HELLO =
      "{\"messages\":[{\"role\":\"user\",\"content\":\"Hell\u00f6\"}]}";

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture("gateway.max-body=64kb");

  private CompletableFuture<HttpResponse<String>> send(byte[] body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.uri("/v1/chat/completions"))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    return gateway.send(headers.length == 0 ? request.build() : request.headers(headers).build());
  }

  private void assertServed(byte[] body, String... headers) {
    CompletableFuture<HttpResponse<String>> response = send(body, headers);
    ConversationEvent event = gateway.topics().next();
    assertThat(event.messages().get(0).content()).isEqualTo("Hell\u00f6");
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(response.join().statusCode()).isEqualTo(200);
  }

  private String refused(int status, byte[] body, String... headers) {
    HttpResponse<String> response = send(body, headers).join();
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(gateway.topics().hasEvents()).isFalse();
    return GatewayFixture.json(response.body()).at("/error/message").asText();
  }

  private static byte[] compressed(String encoding, byte[] body) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    OutputStream out =
        switch (encoding) {
          case "gzip" -> new GZIPOutputStream(bytes);
          case "deflate" -> new DeflaterOutputStream(bytes);
          default -> new DeflaterOutputStream(bytes, new Deflater(9, true));
        };
    try (out) {
      out.write(body);
    }
    return bytes.toByteArray();
  }

  @Test
  void aCompressedBodyIsRead() throws IOException {
    byte[] body = HELLO.getBytes(UTF_8);
    assertServed(compressed("gzip", body), "Content-Encoding", "GZIP");
    assertServed(compressed("gzip", body), "Content-Encoding", "x-gzip");
    assertServed(compressed("deflate", body), "Content-Encoding", "deflate");
    assertServed(compressed("raw", body), "Content-Encoding", "deflate");
    assertServed(body, "Content-Encoding", "identity");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gzip", "deflate"})
  void aBodyThatInflatesBeyondTheLimitIsTooLarge(String encoding) throws IOException {
    byte[] bomb = compressed(encoding, new byte[10 << 20]);
    assertThat(bomb.length).isLessThan(64 << 10);
    assertThat(refused(413, bomb, "Content-Encoding", encoding)).contains("gateway.max-body");
  }

  @Test
  void aBodyThatIsNotWhatItsEncodingSaysIsRefused() throws IOException {
    byte[] body = HELLO.getBytes(UTF_8);
    byte[] whole = compressed("gzip", body);
    assertThat(refused(400, body, "Content-Encoding", "gzip")).contains("is not gzip");
    assertThat(refused(400, Arrays.copyOf(whole, whole.length / 2), "Content-Encoding", "gzip"))
        .contains("is not gzip");
    assertThat(refused(400, body, "Content-Encoding", "deflate")).contains("is not deflate");
  }

  @ParameterizedTest
  @ValueSource(strings = {"br", "zstd", "gzip, gzip", "compress", "nonsense"})
  void anotherEncodingIsRefusedWithThoseThatAreServed(String encoding) {
    HttpResponse<String> response =
        send(HELLO.getBytes(UTF_8), "Content-Encoding", encoding).join();
    assertThat(response.statusCode()).isEqualTo(415);
    assertThat(response.headers().firstValue("Accept-Encoding"))
        .hasValue("gzip, deflate, identity");
    assertThat(response.body()).contains("gzip, deflate");
  }

  @Test
  void aKeyThatIsGivenTwiceIsNamed() {
    assertThat(refused(400, "{\"model\":\"a\",\"model\":\"b\"}".getBytes(UTF_8)))
        .isEqualTo("the body has the key \"model\" twice in one object");
    String nested = HELLO.replace("\"role\":", "\"role\":\"system\",\"ro\\u006ce\":");
    assertThat(refused(400, nested.getBytes(UTF_8))).contains("\"role\" twice");
    String large = HELLO.replace("{\"mess", "{\"x\":1," + " ".repeat(30_000) + "\"x\":2,\"mess");
    assertThat(refused(400, large.getBytes(UTF_8))).contains("\"x\" twice");
  }

  @Test
  void anotherEncodingThanUtf8IsRefused() {
    for (Charset charset :
        List.of(UTF_16LE, UTF_16BE, Charset.forName("UTF-32LE"), Charset.forName("UTF-32BE"))) {
      assertThat(refused(400, HELLO.getBytes(charset))).as("%s", charset).contains("UTF-8");
      assertThat(refused(400, ("\uFEFF" + HELLO).getBytes(charset))).contains("UTF-8");
    }
    assertThat(refused(400, HELLO.getBytes(Charset.forName("ISO-8859-1")))).contains("UTF-8");
  }

  @Test
  void theMarkOfUtf8IsPassedOver() {
    assertServed(("\uFEFF" + HELLO).getBytes(UTF_8));
  }

  @Test
  void aBodyMayNest256Deep() {
    String deep = "[".repeat(250) + "]".repeat(250);
    assertServed(HELLO.replace("{\"mess", "{\"metadata\":" + deep + ",\"mess").getBytes(UTF_8));
    String deeper = "[".repeat(256) + "]".repeat(256);
    assertThat(
            refused(400, HELLO.replace("{\"mess", "{\"x\":" + deeper + ",\"mess").getBytes(UTF_8)))
        .isEqualTo(
            "the body is not valid JSON: Document nesting depth (257) exceeds the maximum allowed"
                + " (256)");
  }

  @Test
  void whatThisServerCannotDoIsSaid() {
    for (String path : List.of("/v1/embeddings", "/v1/rerank", "/embeddings", "/v1/images/edits")) {
      HttpResponse<String> response = gateway.send(gateway.post(path, "{}")).join();
      assertThat(response.statusCode()).isEqualTo(404);
      assertThat(response.body()).contains("this server generates text alone");
    }
  }
}
