package io.radixflow.text.tokenizer;

import io.radixflow.models.file.format.GgufMetadata;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Metadata for tests, filled by hand; lists of numbers become arrays. */
public final class GgufHeader {

  private final Map<String, Object> values = new HashMap<>();

  public GgufHeader with(String key, Object value) {
    GgufHeader copy = without(key);
    copy.values.put(key, value instanceof List<?> list ? array(list) : value);
    return copy;
  }

  public GgufHeader without(String key) {
    GgufHeader copy = new GgufHeader();
    copy.values.putAll(values);
    copy.values.remove(key);
    return copy;
  }

  private static Object array(List<?> list) {
    Object first = list.isEmpty() ? "" : list.get(0);
    if (first instanceof Long) {
      return list.stream().mapToLong(Long.class::cast).toArray();
    }
    return first instanceof Double ? list.stream().mapToDouble(Double.class::cast).toArray() : list;
  }

  public GgufMetadata metadata() {
    return new GgufMetadata(Path.of("test.gguf"), Map.copyOf(values));
  }
}
