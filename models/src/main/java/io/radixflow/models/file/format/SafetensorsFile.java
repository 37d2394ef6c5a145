package io.radixflow.models.file.format;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The head of a safetensors file. The format is: u64 length of a JSON object; the object, with
 * element type, shape and byte range of each tensor; the data, from which ranges count.
 *
 * @param file path of the file
 * @param tensors entries by name
 */
public record SafetensorsFile(Path file, Map<String, Entry> tensors) {
  private static final int MAX_HEADER_BYTES = 1 << 24;
  private static final int MAX_RANK = 8;

  /**
   * @param type name of the element type in the file
   * @param shape sizes, rows first
   * @param position first byte in the file
   * @param bytes number of bytes
   */
  public record Entry(String type, long[] shape, long position, long bytes) {}

  /**
   * Reads the head. Checks that every tensor is inside the file and that tensors do not overlap.
   */
  public static SafetensorsFile read(Path file, FileChannel channel) throws IOException {
    long size = channel.size();
    if (size < 8) {
      throw new ModelFormatException(file + ": truncated: " + size + " bytes");
    }
    long length = bytes(file, channel, 0, 8).getLong();
    if (length < 2 || length > Math.min(MAX_HEADER_BYTES, size - 8)) {
      throw new ModelFormatException(
          String.format(
              "%s: header of %s bytes; this is not a safetensors file, or it is truncated",
              file, Long.toUnsignedString(length)));
    }
    JsonNode header =
        BoundedJson.object(bytes(file, channel, 8, (int) length).array(), file + ": header");
    long start = 8 + length;
    Map<String, Entry> tensors = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> field : header.properties()) {
      if (!field.getKey().equals("__metadata__")) {
        String where = file + ": tensor " + field.getKey();
        tensors.put(field.getKey(), entry(where, field.getValue(), start, size));
      }
    }
    disjoint(file, tensors);
    return new SafetensorsFile(file, tensors);
  }

  private static ByteBuffer bytes(Path file, FileChannel channel, long position, int count)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, position + buffer.position()) < 0) {
        throw new ModelFormatException(file + ": became shorter while it was read");
      }
    }
    return buffer.flip();
  }

  private static Entry entry(String where, JsonNode node, long start, long size) {
    JsonNode shape = node.path("shape");
    JsonNode range = node.path("data_offsets");
    boolean valid = node.path("dtype").isTextual() && shape.isArray() && range.isArray();
    if (!valid || shape.size() > MAX_RANK || range.size() != 2) {
      throw new ModelFormatException(where + ": expected dtype, shape and two data_offsets");
    }
    long[] sizes = new long[shape.size()];
    for (int d = 0; d < sizes.length; d++) {
      sizes[d] = count(where + ": shape", shape.get(d));
    }
    long begin = count(where + ": data_offsets", range.get(0));
    long end = count(where + ": data_offsets", range.get(1));
    if (begin > end || end > size - start) {
      throw new ModelFormatException(
          String.format(
              "%s: data_offsets %s to %s exceed the file's %s bytes of data; the file is "
                  + "truncated or corrupt",
              where, begin, end, size - start));
    }
    return new Entry(node.get("dtype").textValue(), sizes, start + begin, end - begin);
  }

  private static long count(String where, JsonNode node) {
    if (!node.isIntegralNumber() || !node.canConvertToLong() || node.longValue() < 0) {
      throw new ModelFormatException(where + ": expected whole numbers of at least 0");
    }
    return node.longValue();
  }

  private static void disjoint(Path file, Map<String, Entry> tensors) {
    List<Map.Entry<String, Entry>> entries = new ArrayList<>(tensors.entrySet());
    entries.sort(
        Comparator.<Map.Entry<String, Entry>>comparingLong(e -> e.getValue().position())
            .thenComparingLong(e -> e.getValue().bytes()));
    long end = 0;
    for (Map.Entry<String, Entry> entry : entries) {
      if (entry.getValue().position() < end) {
        throw new ModelFormatException(
            file + ": tensor " + entry.getKey() + ": its data overlaps another tensor's");
      }
      end = entry.getValue().position() + entry.getValue().bytes();
    }
  }
}
