package io.radixflow.text.jinja.value;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A dictionary in the order of insertion. Keys that are equal in Python are the same key. */
public final class Dict {
  private final Map<Object, Object> values = new LinkedHashMap<>();

  /** Original keys that differ from the form of {@link #hashed}, by that form. */
  private final Map<Object, Object> written = new HashMap<>();

  /** Puts a value. If an equal key already exists, that key stays. */
  public Dict put(Object key, Object value) {
    Object found = hashed(key);
    if (found != key && !values.containsKey(found)) {
      written.put(found, key);
    }
    values.put(found, value);
    return this;
  }

  /** Returns the value, or {@link Arguments#MISSING}. */
  public Object get(Object key) {
    return values.getOrDefault(hashed(key), Arguments.MISSING);
  }

  public int size() {
    return values.size();
  }

  public List<Object> keys() {
    List<Object> keys = new ArrayList<>(values.size());
    for (Object key : values.keySet()) {
      keys.add(written.isEmpty() ? key : written.getOrDefault(key, key));
    }
    return keys;
  }

  public List<Object> values() {
    return new ArrayList<>(values.values());
  }

  public List<Object> items() {
    List<Object> items = new ArrayList<>(values.size());
    for (Map.Entry<Object, Object> entry : values.entrySet()) {
      Object key = entry.getKey();
      items.add(Tuple.of(written.getOrDefault(key, key), entry.getValue()));
    }
    return items;
  }

  /** Returns the entries. Their keys have the form of {@link #hashed}. */
  Set<Map.Entry<Object, Object>> entries() {
    return values.entrySet();
  }

  /**
   * Returns a form of the key that is equal for all keys that are equal in Python.
   *
   * @throws JinjaException if the value cannot be a key
   */
  public static Object hashed(Object key) {
    if (key instanceof Boolean flag) {
      return flag ? 1L : 0L;
    } else if (key instanceof Double number) {
      return number % 1 == 0 && Math.abs(number) < Long.MAX_VALUE
          ? (Object) number.longValue()
          : key;
    } else if (key instanceof Markup markup) {
      return markup.text();
    } else if (key instanceof Tuple tuple) {
      List<Object> items = new ArrayList<>();
      tuple.items().forEach(item -> items.add(hashed(item)));
      return new Tuple(items);
    } else if (key instanceof List || key instanceof Dict || key instanceof DictView) {
      throw JinjaException.type("unhashable type: '%s'", Values.type(key));
    }
    return key;
  }
}
