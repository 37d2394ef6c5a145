package io.radixflow.protocol.json;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/**
 * Reads checked values of one untrusted JSON object. A field that is absent or null is read as
 * null, unless {@link #require} was called for it; a field with a wrong type or out of range throws
 * an {@link InvalidInputException} with the path of the field, such as {@code
 * cache.retention[2].priority}.
 */
public final class JsonObject {
  /** The most characters of an id. */
  public static final int MAX_ID = 256;

  private final String path;
  private final ObjectNode object;

  private JsonObject(String path, ObjectNode object) {
    this.path = path;
    this.object = object;
  }

  /**
   * Returns an object that is not a part of another object.
   *
   * @param what names the value in the message if the value is not an object
   */
  public static JsonObject of(JsonNode value, String what) {
    if (value instanceof ObjectNode object) {
      return new JsonObject("", object);
    }
    throw new InvalidInputException(what + " is not a JSON object");
  }

  private static JsonObject nested(String path, JsonNode value) {
    if (value instanceof ObjectNode object) {
      return new JsonObject(path, object);
    }
    throw wrongType(path, value, "an object");
  }

  /** Returns the path of a field, for messages. */
  public String path(String field) {
    return path.isEmpty() ? field : path + "." + field;
  }

  /** Returns the field's value, or null if it is absent or null. */
  public JsonNode get(String field) {
    JsonNode value = object.get(field);
    return value == null || value.isNull() ? null : value;
  }

  /** Returns whether the field is present and not null. */
  public boolean has(String field) {
    return get(field) != null;
  }

  /** Returns the names of all fields, including fields that are null. */
  public Iterable<String> names() {
    return object::fieldNames;
  }

  /** Refuses all fields except {@code known}; the message offers the nearest name. */
  public JsonObject allow(Collection<String> known) {
    for (String name : names()) {
      if (!known.contains(name)) {
        throw unknown(name, known);
      }
    }
    return this;
  }

  /** Returns the exception for a field that is not known. */
  public InvalidInputException unknown(String name, Collection<String> known) {
    return new InvalidInputException(
        (path.isEmpty() ? "the field " : path + " has the unknown field ")
            + Texts.quote(name)
            + (path.isEmpty() ? " is unknown." : ".")
            + NearestName.hint(name, known));
  }

  /**
   * Names the fields that are given and not known, for APIs that ignore such fields.
   *
   * @param notice receives the path of each field
   */
  public void leaveOut(Collection<String> known, Consumer<String> notice) {
    for (String name : names()) {
      if (!known.contains(name) && has(name)) {
        notice.accept(path(name));
      }
    }
  }

  /** Refuses an object in which one of these fields is absent or null. */
  public JsonObject require(String... fields) {
    for (String field : fields) {
      if (!has(field)) {
        throw new InvalidInputException(path(field) + " is missing");
      }
    }
    return this;
  }

  /** An id: 1 to {@link #MAX_ID} characters, no control characters. */
  public String id(String field) {
    String id = name(field);
    if (id != null && id.isEmpty()) {
      throw new InvalidInputException(
          path(field) + " is empty; it must have 1 to " + MAX_ID + " characters");
    }
    return id;
  }

  /** A name: an id that may be empty. */
  public String name(String field) {
    String text = text(field);
    if (text == null) {
      return null;
    }
    int length = Texts.length(text);
    if (length > MAX_ID) {
      throw new InvalidInputException(
          path(field) + " has " + length + " characters; at most " + MAX_ID + " are allowed");
    }
    if (!Texts.isPlain(text)) {
      throw new InvalidInputException(
          path(field) + " has control characters or lone surrogates, which an id must not have");
    }
    return text;
  }

  /** Any string. */
  public String text(String field) {
    JsonNode value = get(field);
    return value == null ? null : text(path(field), value);
  }

  /** Returns the constant whose lower-case name is the field's value. */
  public <E extends Enum<E>> E choice(String field, Class<E> type) {
    String given = text(field);
    if (given == null) {
      return null;
    }
    List<String> names =
        Arrays.stream(type.getEnumConstants()).map(e -> e.name().toLowerCase(Locale.ROOT)).toList();
    if (!names.contains(given)) {
      throw notOneOf(path(field), given, names);
    }
    return type.getEnumConstants()[names.indexOf(given)];
  }

  /** Returns the exception for a string that is not one of the valid values. */
  public static InvalidInputException notOneOf(
      String path, String given, Collection<String> valid) {
    return new InvalidInputException(
        "%s is %s; it must be one of %s.%s"
            .formatted(
                path,
                Texts.quote(given),
                String.join(", ", valid),
                NearestName.hint(given, valid)));
  }

  /** True or false. */
  public Boolean bool(String field) {
    JsonNode value = get(field);
    if (value != null && !value.isBoolean()) {
      throw wrongType(path(field), value, "true or false");
    }
    return value == null ? null : Boolean.valueOf(value.booleanValue());
  }

  /** True or false, or {@code absent} if the field is not given. */
  public boolean bool(String field, boolean absent) {
    Boolean value = bool(field);
    return value == null ? absent : value;
  }

  /** A number from {@code min} to {@code max}. */
  public Double number(String field, double min, double max) {
    JsonNode value = get(field);
    return value == null ? null : number(path(field), value, min, max);
  }

  /** Returns a finite number, or {@code absent} if the field is not given. */
  public double number(String field, double absent) {
    Double value = number(field, -Double.MAX_VALUE, Double.MAX_VALUE);
    return value == null ? absent : value;
  }

  /** An integer from {@code min} to {@code max}. */
  public Long integer(String field, long min, long max) {
    JsonNode value = get(field);
    return value == null ? null : integer(path(field), value, min, max);
  }

  /** An integer from {@code min} to {@code max}, or {@code absent} if the field is not given. */
  public long integer(String field, long min, long max, long absent) {
    Long value = integer(field, min, max);
    return value == null ? absent : value;
  }

  /** Returns an integer of 32 bits, or {@code absent} if the field is not given. */
  public int integer(String field, int absent) {
    return (int) integer(field, Integer.MIN_VALUE, Integer.MAX_VALUE, absent);
  }

  /** An object. */
  public JsonObject object(String field) {
    JsonNode value = get(field);
    return value == null ? null : nested(path(field), value);
  }

  /**
   * An array.
   *
   * @param items the name of the elements, for messages
   * @param max the most elements
   */
  public JsonNode array(String field, String items, int max) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (!value.isArray()) {
      throw wrongType(path(field), value, "an array of " + items);
    }
    if (value.size() > max) {
      throw new InvalidInputException(
          path(field) + " has " + value.size() + " " + items + "; at most " + max + " are allowed");
    }
    return value;
  }

  /** An array of objects; empty if it is not given. */
  public List<JsonObject> objects(String field, String items, int max) {
    JsonNode array = array(field, items, max);
    if (array == null) {
      return List.of();
    }
    List<JsonObject> objects = new ArrayList<>(array.size());
    for (JsonNode element : array) {
      objects.add(nested(element(field, objects.size()), element));
    }
    return objects;
  }

  /** An array of integers of 32 bits. */
  public int[] integers(String field) {
    JsonNode array = array(field, "integers", Integer.MAX_VALUE);
    if (array == null) {
      return null;
    }
    int[] values = new int[array.size()];
    for (int i = 0; i < values.length; i++) {
      JsonNode value = array.get(i);
      values[i] =
          value.isInt() // the path is only built for errors, since arrays may be long
              ? value.intValue()
              : (int) integer(element(field, i), value, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }
    return values;
  }

  /** The elements of an array of integers of 32 bits that are not negative. */
  public static List<Integer> naturals(String path, JsonNode array) {
    List<Integer> values = new ArrayList<>(array.size());
    for (JsonNode value : array) {
      boolean plain = value.isInt() && value.intValue() >= 0; // builds no path per element
      values.add(
          plain
              ? value.intValue()
              : (int) integer(path + "[" + values.size() + "]", value, 0, Integer.MAX_VALUE));
    }
    return values;
  }

  private String element(String field, int index) {
    return path(field) + "[" + index + "]";
  }

  /** A string, or an array of at most {@code max}. */
  public List<String> texts(String field, int max) {
    JsonNode value = get(field);
    if (value == null) {
      return null;
    }
    if (value.isTextual()) {
      return List.of(value.textValue());
    }
    if (!value.isArray()) {
      throw wrongType(path(field), value, "a string or an array of strings");
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode element : array(field, "strings", max)) {
      texts.add(text(element(field, texts.size()), element));
    }
    return texts;
  }

  /** A value that is a string. */
  public static String text(String path, JsonNode value) {
    if (!value.isTextual()) {
      throw wrongType(path, value, "a string");
    }
    return value.textValue();
  }

  /** A value that is a number from {@code min} to {@code max}. */
  public static double number(String path, JsonNode value, double min, double max) {
    if (!value.isNumber()) {
      throw wrongType(path, value, "a number");
    }
    double number = value.doubleValue();
    // the negation also refuses NaN
    if (!(number >= min && number <= max)) {
      throw outOfRange(path, value, plain(min), plain(max));
    }
    return number;
  }

  /** A value that is an integer from {@code min} to {@code max}. */
  public static long integer(String path, JsonNode value, long min, long max) {
    if (!value.isNumber()) {
      throw wrongType(path, value, "an integer");
    }
    if (!Double.isFinite(value.doubleValue()) || !value.canConvertToExactIntegral()) {
      throw new InvalidInputException(path + " is " + shown(value) + "; it must be an integer");
    }
    if (!value.canConvertToLong() || value.longValue() < min || value.longValue() > max) {
      throw outOfRange(path, value, Long.toString(min), Long.toString(max));
    }
    return value.longValue();
  }

  /** Returns the exception for a value of a wrong type. */
  public static InvalidInputException wrongType(String path, JsonNode value, String wanted) {
    String type = value.getNodeType().name().toLowerCase(Locale.ROOT);
    String article = "aeiou".indexOf(type.charAt(0)) >= 0 ? "an " : "a ";
    return new InvalidInputException(
        path + " is " + (value.isNull() ? "null" : article + type) + "; it must be " + wanted);
  }

  private static InvalidInputException outOfRange(
      String path, JsonNode value, String min, String max) {
    return new InvalidInputException(
        path
            + " is "
            + shown(value)
            + "; it must be "
            + (min.equals(max) ? min : min + " to " + max));
  }

  private static String shown(JsonNode number) {
    String text = number.asText();
    return text.length() <= 32 ? text : text.substring(0, 32) + "…";
  }

  private static String plain(double bound) {
    return bound == Math.rint(bound) && Math.abs(bound) < 1e15
        ? Long.toString((long) bound)
        : Double.toString(bound);
  }
}
