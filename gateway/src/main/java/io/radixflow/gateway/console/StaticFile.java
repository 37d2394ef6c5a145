package io.radixflow.gateway.console;

import io.radixflow.gateway.http.Exchange;
import io.radixflow.models.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;

/** A file that every client gets unchanged, without an API key. */
final class StaticFile {

  /**
   * Pages load nothing from other hosts and run only scripts from these files. Text cannot become
   * markup by accident, because all sinks for markup are closed.
   */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private final String type;
  private final byte[] bytes;
  private final String tag;

  /**
   * @param name name of the file; its extension decides the content type
   */
  StaticFile(String name, byte[] bytes) {
    this.type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    if (type == null) {
      throw new IllegalArgumentException(name + " has no content type");
    }
    this.bytes = bytes;
    this.tag = "\"" + HexFormat.of().formatHex(Sha256.of(bytes), 0, 16) + "\"";
  }

  /** Reads a resource that the build has put on the class path. */
  static String read(String resource) {
    try (InputStream in = StaticFile.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("the class path lacks " + resource);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException("cannot read " + resource, e);
    }
  }

  /** Answers with the file, or with status 304 if the client's copy is current. */
  void serve(Exchange exchange) {
    exchange.setHeader("ETag", tag);
    exchange.setHeader("Cache-Control", "no-cache");
    exchange.setHeader("Content-Security-Policy", POLICY);
    exchange.setHeader("X-Content-Type-Options", "nosniff");
    exchange.setHeader("X-Frame-Options", "DENY");
    exchange.setHeader("Referrer-Policy", "no-referrer");
    exchange.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    exchange.setHeader("Cross-Origin-Resource-Policy", "same-origin");
    boolean same = isNamed(exchange.header("If-None-Match"));
    exchange.send(same ? 304 : 200, type, same ? new byte[0] : bytes);
  }

  private boolean isNamed(String tags) {
    return tags != null
        && Arrays.stream(tags.split(",")).anyMatch(t -> t.strip().replace("W/", "").equals(tag));
  }
}
