package io.radixflow.models.hub;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A hub on the loopback interface that misbehaves on request. */
final class FakeHub implements AutoCloseable {
  static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, byte[]> files = new ConcurrentHashMap<>();
  private final Map<String, byte[]> served = new ConcurrentHashMap<>();
  private final List<String> requests = new CopyOnWriteArrayList<>();

  /** Bytes after which each answer breaks off; negative for none. */
  volatile int breakAfter = -1;

  /** Holds broken answers back instead, until it is counted down; null for none. */
  volatile CountDownLatch hangs;

  /** True if Range is ignored. */
  volatile boolean ignoresRange;

  /** The only branch or tag that there is. */
  volatile String revision = "main";

  /** Answer to the listing, if not the true one. */
  volatile String listing;

  FakeHub() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  void put(String file, byte[] content) {
    files.put(file, content);
    served.put(file, content);
  }

  void remove(String file) {
    files.remove(file);
  }

  /** Serves other bytes than the listing's hashes are of. */
  void serve(String file, byte[] content) {
    served.put(file, content);
  }

  /** Requests so far, as path and Range. */
  List<String> requests() {
    return requests;
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String range = exchange.getRequestHeaders().getFirst("Range");
    requests.add(path + (range == null ? "" : " " + range));
    if (path.equals("/api/models/owner/name/revision/" + revision)) {
      String text = listing != null ? listing : listing();
      send(exchange, 200, text.getBytes(StandardCharsets.UTF_8));
    } else if (path.startsWith("/owner/name/resolve/" + COMMIT + "/")) {
      exchange.getResponseHeaders().set("Location", "/cdn" + path.substring(60));
      exchange.sendResponseHeaders(302, -1);
      exchange.close();
    } else if (path.startsWith("/cdn/") && served.containsKey(path.substring(5))) {
      sendFile(exchange, served.get(path.substring(5)), range);
    } else {
      send(exchange, 404, new byte[0]);
    }
  }

  private void sendFile(HttpExchange exchange, byte[] content, String range) throws IOException {
    int from = 0;
    if (range != null && !ignoresRange) {
      from = Integer.parseInt(range.substring(6, range.length() - 1));
      exchange
          .getResponseHeaders()
          .set(
              "Content-Range", "bytes " + from + "-" + (content.length - 1) + "/" + content.length);
    }
    send(exchange, from > 0 ? 206 : 200, Arrays.copyOfRange(content, from, content.length));
  }

  private void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    boolean whole = breakAfter < 0 || status >= 300 || body.length <= breakAfter;
    OutputStream out = exchange.getResponseBody();
    out.write(body, 0, whole ? body.length : breakAfter);
    out.flush();
    if (!whole && hangs != null) {
      awaitRelease();
    }
    exchange.close();
  }

  private void awaitRelease() {
    try {
      hangs.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private String listing() {
    StringBuilder text = new StringBuilder("{\"sha\":\"" + COMMIT + "\",\"siblings\":[");
    String separator = "";
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      text.append(separator).append(sibling(file.getKey(), file.getValue()));
      separator = ",";
    }
    return text.append("]}").toString();
  }

  private static String sibling(String name, byte[] content) {
    boolean large = name.endsWith(".gguf") || name.endsWith(".safetensors");
    return large
        ? "{\"rfilename\":\"%s\",\"size\":%d,\"lfs\":{\"sha256\":\"%s\",\"size\":%d}}"
            .formatted(name, content.length, hash("SHA-256", content), content.length)
        : "{\"rfilename\":\"%s\",\"size\":%d,\"blobId\":\"%s\"}"
            .formatted(name, content.length, blob(content));
  }

  private static String blob(byte[] content) {
    byte[] head = ("blob " + content.length + "\0").getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(head, head.length + content.length);
    System.arraycopy(content, 0, all, head.length, content.length);
    return hash("SHA-1", all);
  }

  private static String hash(String algorithm, byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
