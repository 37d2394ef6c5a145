package io.radixflow.text.jinja.value;

/**
 * The value of a name or an attribute that does not exist: it prints as nothing, and fails where it
 * is computed with.
 */
public final class Undefined {
  private final String kind;
  private final String reason;

  private Undefined(String kind, String reason) {
    this.kind = kind;
    this.reason = reason;
  }

  /** Makes the value of an unknown variable. */
  public static Undefined name(String name) {
    return because("'" + name + "' is undefined");
  }

  /** Makes the value of an attribute or an element that an object lacks. */
  public static Undefined of(Object owner, Object name) {
    String type = owner == null ? "None" : Values.type(owner) + " object";
    return because(
        name instanceof String
            ? "'" + type + "' has no attribute '" + name + "'"
            : type + " has no element " + (name instanceof Long ? name : Values.type(name)));
  }

  /** Makes a value with the message of the error that its use causes. */
  public static Undefined because(String reason) {
    return new Undefined("UndefinedError", reason);
  }

  /** Makes the value of an attribute that templates must not use. */
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
