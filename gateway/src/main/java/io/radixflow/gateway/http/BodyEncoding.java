package io.radixflow.gateway.http;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/** Decompresses bodies, within the size limit of a body. */
final class BodyEncoding {

  private static final int BUFFER = 64 << 10;
  private static final int ZLIB = 0x78;

  private BodyEncoding() {}

  /**
   * Returns the encoding that a header names, in lower case; null for none.
   *
   * @param header Content-Encoding, or null
   * @throws ApiException with status 415 if the encoding is not supported
   */
  static String of(String header) {
    String name = header == null ? "" : header.strip().toLowerCase(Locale.ROOT);
    return switch (name) {
      case "", "identity" -> null;
      case "gzip", "x-gzip" -> "gzip";
      case "deflate" -> name;
      default ->
          throw ApiException.unsupportedEncoding(
              "the Content-Encoding of the body is not served: send gzip, deflate, or none");
    };
  }

  /**
   * Returns the decompressed body.
   *
   * @param encoding a result of {@link #of}
   * @param most the highest size of the inflated body in bytes
   * @throws ApiException with status 413 if the body is larger, or 400 if it cannot be read
   */
  static byte[] inflate(byte[] body, String encoding, int most) {
    if (encoding == null || body.length == 0) {
      return body;
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream(Math.min(most, 4 * body.length));
    byte[] buffer = new byte[BUFFER];
    try (InputStream in = stream(body, encoding)) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        if (all.size() + read > most) {
          throw ApiException.tooLarge(most);
        }
        all.write(buffer, 0, read);
      }
    } catch (IOException e) {
      throw ApiException.badRequest(
          null,
          "the body is not " + encoding + ", as its Content-Encoding says: " + e.getMessage());
    }
    return all.toByteArray();
  }

  /** Returns the inflating stream. Some clients send deflate without the header of zlib. */
  private static InputStream stream(byte[] body, String encoding) throws IOException {
    InputStream in = new ByteArrayInputStream(body);
    if (encoding.equals("gzip")) {
      return new GZIPInputStream(in, BUFFER);
    }
    boolean zlib = (body[0] & 0xff) == ZLIB;
    return zlib ? new InflaterInputStream(in) : new RawInflater(in, new Inflater(true));
  }

  /**
   * Frees the native memory of the inflater; the base class frees only an inflater that it has
   * created itself.
   */
  private static final class RawInflater extends InflaterInputStream {
    RawInflater(InputStream in, Inflater inflater) {
      super(in, inflater, BUFFER);
    }

    @Override
    public void close() throws IOException {
      super.close();
      inf.end();
    }
  }
}
