package io.radixflow.gateway.live;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/**
 * Reads JSON from Flink's REST interface. Time and size are limited, because the server at this
 * address may be slow or may not be Flink. Only one thread may use this.
 */
final class FlinkRest {

  private static final int MAX_BYTES = 8 << 20;
  private static final int CHUNK = 1 << 16;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final URI base;
  private final int timeoutMillis;

  /**
   * @param url address of the interface, without {@code /v1}
   * @param timeoutMillis timeout of connecting, of each read, and of the whole answer
   */
  FlinkRest(String url, int timeoutMillis) {
    this.base = URI.create(url.endsWith("/") ? url : url + "/");
    this.timeoutMillis = timeoutMillis;
  }

  /**
   * Reads an answer.
   *
   * @param path the path after the version, with its query
   * @throws IOException if no JSON answer comes in time; the message is for people
   */
  JsonNode get(String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) base.resolve("v1/" + path).toURL().openConnection();
    connection.setConnectTimeout(timeoutMillis);
    connection.setReadTimeout(timeoutMillis);
    connection.setInstanceFollowRedirects(false);
    // a kept connection would outlive the page and keep a thread of the JDK alive
    connection.setRequestProperty("Connection", "close");
    connection.setRequestProperty("Accept", "application/json");
    try {
      int status = status(connection);
      if (status != 200) {
        throw new IOException("Flink answers with status " + status + " at " + base);
      }
      return MAPPER.readTree(read(connection));
    } catch (JsonProcessingException e) {
      throw new IOException("what answers at " + base + " is not Flink", e);
    } finally {
      connection.disconnect();
    }
  }

  private int status(HttpURLConnection connection) throws IOException {
    try {
      return connection.getResponseCode();
    } catch (IOException e) {
      throw new IOException("Flink does not answer at " + base, e);
    }
  }

  private byte[] read(HttpURLConnection connection) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] chunk = new byte[CHUNK];
    try (InputStream in = connection.getInputStream()) {
      for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
        bytes.write(chunk, 0, count);
        if (bytes.size() > MAX_BYTES || System.nanoTime() > deadline) {
          throw new IOException("Flink's answer at " + base + " is too long or too slow");
        }
      }
    }
    return bytes.toByteArray();
  }
}
