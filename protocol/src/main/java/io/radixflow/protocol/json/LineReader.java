package io.radixflow.protocol.json;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads lines as bytes. A line ends with LF or CR LF, and its length is limited. */
public final class LineReader {
  private final InputStream input;
  private final int maxBytes;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  /**
   * @param maxBytes the longest line in bytes, without its end
   */
  public LineReader(InputStream input, int maxBytes) {
    this.input = new BufferedInputStream(input, 1 << 16);
    this.maxBytes = maxBytes;
  }

  /**
   * Returns the next line without its end, or null after the last line.
   *
   * @throws InvalidInputException if the line is too long; the next call reads the line after it
   */
  public byte[] next() throws IOException {
    line.reset();
    long length = 0;
    int b = input.read();
    if (b < 0) {
      return null;
    }
    while (b >= 0 && b != '\n') {
      if (length++ < maxBytes) {
        line.write(b);
      }
      b = input.read();
    }
    if (length > maxBytes) {
      throw new InvalidInputException(
          "the line has " + length + " bytes, more than the " + maxBytes + " that are read");
    }
    byte[] bytes = line.toByteArray();
    int end = bytes.length > 0 && bytes[bytes.length - 1] == '\r' ? bytes.length - 1 : bytes.length;
    return end == bytes.length ? bytes : Arrays.copyOf(bytes, end);
  }
}
