package io.radixflow.text.jinja.value;

/**
 * The value of a name or attribute that does not exist. It is printed as an empty text; computing
 * with it is an error.
 */
public final class Undefined {
  private final String kind;
  private final String reason;

  private Undefined(String kind, String reason) {
    this.kind = kind;
    this.reason = reason;
  }

  /** Creates the value of an unknown variable. */
  public static Undefined name(String name) {
    return because("'" + name + "' is undefined");
  }

  /** Creates the value of an attribute or element that an object does not have. */
  public static Undefined of(Object owner, Object name) {
    String type = owner == null ? "None" : Values.type(owner) + " object";
    return because(
        name instanceof String
            ? "'" + type + "' has no attribute '" + name + "'"
            : type + " has no element " + (name instanceof Long ? name : Values.type(name)));
  }

  /** Creates a value. {@code reason} is the message of the error when it is used. */
  public static Undefined because(String reason) {
    return new Undefined("UndefinedError", reason);
  }

  /** Creates the value of an attribute that templates must not use. */
  public static Undefined unsafe(Object owner, String name) {
    return new Undefined(
        "SecurityError",
        "access to attribute '" + name + "' of '" + Values.type(owner) + "' object is unsafe");
  }

  public JinjaException failure() {
    return JinjaException.of(kind, "%s", reason);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Undefined;
  }

  @Override
  public int hashCode() {
    return 1;
  }
}
