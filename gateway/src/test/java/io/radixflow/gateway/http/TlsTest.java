package io.radixflow.gateway.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.gateway.GatewayFixture;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class TlsTest {

  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir Path directory;
  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  @Test
  void aGatewayWithACertificateServesTls() throws Exception {
    KeyStore store = selfSigned();
    Path certificate = directory.resolve("cert.pem");
    Path key = directory.resolve("key.pem");
    pem(certificate, "CERTIFICATE", store.getCertificate("gateway").getEncoded());
    pem(key, "PRIVATE KEY", store.getKey("gateway", PASSWORD).getEncoded());
    gateway.restart("gateway.tls-certificate=" + certificate, "gateway.tls-key=" + key);
    assertThat(gateway.uri("/").getScheme()).isEqualTo("https");
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    HttpClient client = HttpClient.newBuilder().sslContext(context).build();
    HttpResponse<String> response =
        client.send(
            HttpRequest.newBuilder(gateway.uri("/health")).build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.version()).isEqualTo(HttpClient.Version.HTTP_2);
    HttpRequest large =
        HttpRequest.newBuilder(gateway.uri("/health")).header("x", "y".repeat(20_000)).build();
    assertThat(client.send(large, HttpResponse.BodyHandlers.ofString()).statusCode())
        .as("headers within gateway.max-headers")
        .isEqualTo(200);
  }

  private KeyStore selfSigned() throws Exception {
    Path file = directory.resolve("store.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "gateway",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                new String(PASSWORD))
            .inheritIO()
            .start();
    assertThat(keytool.waitFor()).isZero();
    return KeyStore.getInstance(file.toFile(), PASSWORD);
  }

  private static void pem(Path file, String type, byte[] content) throws Exception {
    String text = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(content);
    Files.writeString(
        file, "-----BEGIN " + type + "-----\n" + text + "\n-----END " + type + "-----\n");
  }
}
