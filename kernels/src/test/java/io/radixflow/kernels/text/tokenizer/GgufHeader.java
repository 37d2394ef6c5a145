package io.radixflow.kernels.text.tokenizer;

import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.file.ModelMetadata;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Metadata for tests: a map, filled by hand or from the head of a GGUF file that is trusted. */
public final class GgufHeader implements ModelMetadata {

  private final Map<String, Object> values = new HashMap<>();

  public GgufHeader() {}

  public GgufHeader(GgufHeader other) {
    values.putAll(other.values);
  }

  public GgufHeader with(String key, Object value) {
    GgufHeader copy = new GgufHeader(this);
    copy.values.put(key, value);
    return copy;
  }

  public GgufHeader without(String key) {
    GgufHeader copy = new GgufHeader(this);
    copy.values.remove(key);
    return copy;
  }

  static GgufHeader read(Path file) {
    try (FileChannel channel = FileChannel.open(file)) {
      ByteBuffer in =
          channel
              .map(FileChannel.MapMode.READ_ONLY, 0, Math.min(channel.size(), 64 << 20))
              .order(ByteOrder.LITTLE_ENDIAN);
      in.position(16);
      GgufHeader header = new GgufHeader();
      for (long left = in.getLong(); left > 0; left--) {
        String key = string(in, in.getLong());
        header.values.put(key, value(in, in.getInt()));
      }
      return header;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String string(ByteBuffer in, long length) {
    byte[] bytes = new byte[(int) length];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static Object value(ByteBuffer in, int type) {
    return switch (type) {
      case 0, 1 -> (long) in.get();
      case 2, 3 -> (long) in.getShort();
      case 4, 5 -> (long) in.getInt();
      case 6 -> (double) in.getFloat();
      case 7 -> in.get() != 0;
      case 8 -> string(in, in.getLong());
      case 9 -> {
        int elementType = in.getInt();
        List<Object> list = new ArrayList<>();
        for (long left = in.getLong(); left > 0; left--) {
          list.add(value(in, elementType));
        }
        yield list;
      }
      case 10, 11 -> in.getLong();
      case 12 -> in.getDouble();
      default -> throw new IllegalStateException("type " + type);
    };
  }

  @Override
  public boolean has(String key) {
    return values.containsKey(key);
  }

  @Override
  public String string(String key) {
    return get(key, String.class);
  }

  @Override
  public long integer(String key) {
    return get(key, Long.class);
  }

  @Override
  public double real(String key) {
    return get(key, Double.class);
  }

  @Override
  public boolean bool(String key) {
    return get(key, Boolean.class);
  }

  @Override
  public List<String> strings(String key) {
    return list(key).stream().map(String.class::cast).toList();
  }

  @Override
  public int[] integers(String key) {
    return list(key).stream().mapToInt(v -> ((Long) v).intValue()).toArray();
  }

  @Override
  public float[] reals(String key) {
    float[] reals = new float[list(key).size()];
    for (int i = 0; i < reals.length; i++) {
      reals[i] = ((Double) list(key).get(i)).floatValue();
    }
    return reals;
  }

  private List<?> list(String key) {
    return get(key, List.class);
  }

  private <T> T get(String key, Class<T> type) {
    Object value = values.get(key);
    if (!type.isInstance(value)) {
      throw new ModelFormatException(key + " is not a " + type.getSimpleName());
    }
    return type.cast(value);
  }
}
