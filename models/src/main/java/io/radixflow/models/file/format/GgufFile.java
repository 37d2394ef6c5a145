package io.radixflow.models.file.format;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The head of a GGUF file (version 2 or 3, little-endian): metadata and the position of each
 * tensor.
 *
 * <p>Format: magic {@code GGUF}, u32 version, u64 tensors, u64 metadata entries; entries of key,
 * u32 type, value; tensors of name, u32 rank, u64 dimensions (fastest first), u32 type, u64 offset;
 * then, aligned, the data, from which offsets count. The file is untrusted: counts are checked
 * against the limits here and against the remaining bytes before memory is allocated.
 *
 * @param metadata key-value metadata
 * @param tensors slots by name, in file order
 */
public record GgufFile(GgufMetadata metadata, Map<String, GgufTensor> tensors) {
  private static final int MAGIC = 0x46554747;
  private static final int MAX_ENTRIES = 1 << 16;
  private static final int MAX_TENSORS = 1 << 16;
  private static final int MAX_KEY_BYTES = 1 << 16;
  private static final int MAX_NAME_BYTES = 256;
  private static final int MAX_STRING_BYTES = 1 << 24;
  private static final int MAX_ELEMENTS = 1 << 22;
  private static final long MAX_HEAD_BYTES = 1L << 28;
  private static final int MAX_RANK = 4;
  private static final int DEFAULT_ALIGNMENT = 32;
  private static final int MAX_ALIGNMENT = 1 << 20;

  /**
   * Reads the head. Checks that every tensor is inside the file and that tensors do not overlap.
   */
  public static GgufFile read(Path file, FileChannel channel) throws IOException {
    return new Reader(file, new GgufCursor(file, channel)).read();
  }

  private static final class Reader {
    private final Path file;
    private final GgufCursor in;
    private int elementsLeft = MAX_ELEMENTS;

    Reader(Path file, GgufCursor in) {
      this.file = file;
      this.in = in;
    }

    GgufFile read() throws IOException {
      version();
      in.field("tensor count");
      int tensorCount = in.count(MAX_TENSORS);
      in.field("metadata count");
      int entries = in.count(MAX_ENTRIES);
      GgufMetadata metadata = new GgufMetadata(file, entries(entries));
      List<GgufTensor> tensors = tensors(tensorCount);
      in.field("general.alignment");
      long alignment = alignment(metadata);
      long dataStart = (in.position() + alignment - 1) / alignment * alignment;
      return new GgufFile(metadata, placed(tensors, dataStart, alignment));
    }

    private void version() throws IOException {
      in.field("header");
      if (in.remaining() < 4 || in.i32() != MAGIC) {
        throw in.error("this is not a GGUF file: it does not start with 'GGUF'");
      }
      int version = in.i32();
      if (version == 2 || version == 3) {
        return;
      }
      int swapped = Integer.reverseBytes(version);
      throw in.error(
          swapped == 2 || swapped == 3
              ? "the file is big-endian; convert it to little-endian"
              : "version " + Integer.toUnsignedString(version) + " is not supported; 2 and 3 are");
    }

    private Map<String, Object> entries(int count) throws IOException {
      Map<String, Object> values = new HashMap<>();
      for (int i = 0; i < count; i++) {
        in.field("metadata key " + i);
        String key = in.string(MAX_KEY_BYTES);
        in.field("metadata " + key);
        if (values.put(key, value(in.i32())) != null) {
          throw in.error("the key occurs twice");
        }
        if (in.position() > MAX_HEAD_BYTES) {
          throw in.error("the metadata is over " + MAX_HEAD_BYTES + " bytes");
        }
      }
      return values;
    }

    private Object value(int type) throws IOException {
      return switch (type) {
        case 0, 1, 2, 3, 4, 5, 10, 11 -> integer(type);
        case 6, 12 -> real(type);
        case 7 -> in.i8() != 0;
        case 8 -> in.string(MAX_STRING_BYTES);
        case 9 -> array();
        default -> throw in.error("value type " + Integer.toUnsignedString(type) + " is unknown");
      };
    }

    private long integer(int type) throws IOException {
      return switch (type) {
        case 0 -> in.i8() & 0xffL;
        case 1 -> in.i8();
        case 2 -> in.i16() & 0xffffL;
        case 3 -> in.i16();
        case 4 -> in.i32() & 0xffffffffL;
        case 5 -> in.i32();
        case 7 -> in.i8() != 0 ? 1 : 0;
        default -> in.i64();
      };
    }

    private double real(int type) throws IOException {
      return type == 6 ? Float.intBitsToFloat(in.i32()) : Double.longBitsToDouble(in.i64());
    }

    private Object array() throws IOException {
      int type = in.i32();
      if (type < 0 || type > 12 || type == 9) {
        throw in.error("array of type " + Integer.toUnsignedString(type) + " is not supported");
      }
      int count = in.count(elementsLeft);
      elementsLeft -= count;
      in.fits(count, elementBytes(type));
      if (type == 8) {
        return strings(count);
      }
      if (type == 6 || type == 12) {
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
          values[i] = real(type);
        }
        return values;
      }
      long[] values = new long[count];
      for (int i = 0; i < count; i++) {
        values[i] = integer(type);
      }
      return values;
    }

    private List<String> strings(int count) throws IOException {
      List<String> values = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        values.add(in.string(MAX_STRING_BYTES));
        if (in.position() > MAX_HEAD_BYTES) {
          throw in.error("the metadata is over " + MAX_HEAD_BYTES + " bytes");
        }
      }
      return List.copyOf(values);
    }

    private static int elementBytes(int type) {
      return switch (type) {
        case 0, 1, 7 -> 1;
        case 2, 3 -> 2;
        case 4, 5, 6 -> 4;
        default -> 8;
      };
    }

    private List<GgufTensor> tensors(int count) throws IOException {
      List<GgufTensor> tensors = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        in.field("name of tensor " + i);
        String name = in.string(MAX_NAME_BYTES);
        in.field("tensor " + name);
        int rank = in.i32();
        if (rank < 1 || rank > MAX_RANK) {
          throw in.error(Integer.toUnsignedString(rank) + " dimensions; 1 to 4 are possible");
        }
        long[] dimensions = new long[rank];
        for (int d = 0; d < rank; d++) {
          dimensions[d] = in.count(Integer.MAX_VALUE);
          if (dimensions[d] == 0) {
            throw in.error("dimension " + d + " is 0");
          }
        }
        tensors.add(new GgufTensor(name, dimensions, in.i32(), in.i64()));
      }
      return tensors;
    }

    private long alignment(GgufMetadata metadata) {
      if (!metadata.has("general.alignment")) {
        return DEFAULT_ALIGNMENT;
      }
      long alignment = metadata.integer("general.alignment");
      if (alignment < 1 || alignment > MAX_ALIGNMENT || Long.bitCount(alignment) != 1) {
        throw in.error(alignment + " is not a power of two up to " + MAX_ALIGNMENT);
      }
      return alignment;
    }

    private Map<String, GgufTensor> placed(List<GgufTensor> tensors, long start, long alignment) {
      Map<String, GgufTensor> byName = new LinkedHashMap<>();
      for (GgufTensor tensor : tensors) {
        in.field("tensor " + tensor.name());
        if (tensor.offset() < 0 || tensor.offset() % alignment != 0) {
          throw in.error(
              String.format(
                  "offset %s is not a multiple of the alignment %s",
                  Long.toUnsignedString(tensor.offset()), alignment));
        }
        GgufTensor placed = tensor.at(start);
        if (byName.put(tensor.name(), placed) != null) {
          throw in.error("the name occurs twice");
        }
      }
      disjoint(byName.values().toArray(GgufTensor[]::new), start);
      return byName;
    }

    private void disjoint(GgufTensor[] tensors, long start) {
      Arrays.sort(tensors, (a, b) -> Long.compare(a.offset(), b.offset()));
      long size = in.position() + in.remaining();
      long end = start;
      for (GgufTensor tensor : tensors) {
        in.field("tensor " + tensor.name());
        long bytes = tensor.bytes();
        if (bytes < 0 || tensor.offset() > size || bytes > size - tensor.offset()) {
          throw in.error(
              "its data ends after the file's "
                  + size
                  + " bytes; the file is truncated or corrupt");
        }
        if (tensor.offset() < end) {
          throw in.error("its data overlaps another tensor's");
        }
        end = tensor.offset() + bytes;
      }
    }
  }
}
