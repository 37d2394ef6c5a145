package io.radixflow.models.file.format;

import io.radixflow.models.ModelFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Reads little-endian values in order from the head of a file. Never allocates more memory than the
 * file has bytes left. Errors name the file and the current field.
 */
final class GgufCursor {
  private static final char REPLACEMENT = '\ufffd';

  private final Path file;
  private final FileChannel channel;
  private final long size;
  private final ByteBuffer buffer =
      ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN).limit(0);
  private long bufferEnd;
  private String field = "header";

  GgufCursor(Path file, FileChannel channel) throws IOException {
    this.file = file;
    this.channel = channel;
    this.size = channel.size();
  }

  /** Sets the name of the next field, for error messages. */
  void field(String name) {
    field = name;
  }

  long position() {
    return bufferEnd - buffer.remaining();
  }

  long remaining() {
    return size - position();
  }

  byte i8() throws IOException {
    need(1);
    return buffer.get();
  }

  short i16() throws IOException {
    need(2);
    return buffer.getShort();
  }

  int i32() throws IOException {
    need(4);
    return buffer.getInt();
  }

  long i64() throws IOException {
    need(8);
    return buffer.getLong();
  }

  /** Reads an unsigned 64-bit count, which must be at most {@code limit}. */
  int count(int limit) throws IOException {
    long count = i64();
    if (count < 0 || count > limit) {
      throw error("count " + Long.toUnsignedString(count) + " is above the limit of " + limit);
    }
    return (int) count;
  }

  /**
   * Checks that the rest of the file can contain {@code count} elements of at least {@code bytes}
   * each.
   */
  void fits(long count, long bytes) {
    if (count > remaining() / bytes) {
      throw error(count + " elements do not fit into the remaining " + remaining() + " bytes");
    }
  }

  /** Reads a length-prefixed UTF-8 string of at most {@code limit} bytes. */
  String string(int limit) throws IOException {
    int length = count(limit);
    fits(length, 1);
    byte[] bytes = new byte[length];
    for (int done = 0; done < length; ) {
      if (!buffer.hasRemaining()) {
        need(1);
      }
      int take = Math.min(length - done, buffer.remaining());
      buffer.get(bytes, done, take);
      done += take;
    }
    return text(bytes);
  }

  /**
   * Decodes UTF-8 fast. Checks the bytes again if the result may contain a replacement for invalid
   * bytes.
   */
  private String text(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    if (text.indexOf(REPLACEMENT) >= 0) {
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      } catch (CharacterCodingException e) {
        throw error("a string is not UTF-8");
      }
    }
    return text;
  }

  ModelFormatException error(String what) {
    return new ModelFormatException(file + ": " + field + ": " + what);
  }

  private void need(int bytes) throws IOException {
    if (buffer.remaining() >= bytes) {
      return;
    }
    if (remaining() < bytes) {
      throw error("the file ends at byte " + size + "; it is truncated or corrupt");
    }
    buffer.compact();
    while (buffer.position() < bytes) {
      int read = channel.read(buffer, bufferEnd);
      if (read < 0) {
        throw error("the file became shorter while it was read");
      }
      bufferEnd += read;
    }
    buffer.flip();
  }
}
