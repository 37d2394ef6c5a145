package io.radixflow.gateway.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;

/** A connection that sends whatever a test wants, HTTP or not. */
final class RawConnection implements AutoCloseable {

  private static final int PATIENCE_MILLIS = 60_000;

  private final Socket socket;

  RawConnection(URI gateway) throws IOException {
    socket = new Socket("127.0.0.1", gateway.getPort());
    socket.setSoTimeout(PATIENCE_MILLIS);
  }

  /** Sends text, in which a line end is one of HTTP. */
  RawConnection send(String text) throws IOException {
    socket.getOutputStream().write(text.replace("\n", "\r\n").getBytes(ISO_8859_1));
    return this;
  }

  /** Reads until the gateway closes the connection. */
  String rest() throws IOException {
    StringBuilder all = new StringBuilder();
    try {
      InputStream in = socket.getInputStream();
      for (int next = in.read(); next >= 0; next = in.read()) {
        all.append((char) next);
      }
    } catch (SocketException e) {
      all.append("(reset)");
    }
    return all.toString();
  }

  /** Reads until a text has come. */
  String until(String text) throws IOException {
    StringBuilder all = new StringBuilder();
    while (all.indexOf(text) < 0) {
      int next = socket.getInputStream().read();
      if (next < 0) {
        throw new AssertionError("the connection was closed after: " + all);
      }
      all.append((char) next);
    }
    return all.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
