package io.radixflow.text.jinja;

/**
 * A piece of a template's source.
 *
 * @param type the kind of token
 */
record Token(Type type, String value, int line) {
  enum Type {
    DATA("template data"),
    VARIABLE_BEGIN("begin of print statement"),
    VARIABLE_END("end of print statement"),
    BLOCK_BEGIN("begin of statement block"),
    BLOCK_END("end of statement block"),
    NAME("name"),
    STRING("string"),
    INTEGER("integer"),
    FLOAT("float"),
    OPERATOR("operator"),
    END("end of template");

    final String description;

    Type(String description) {
      this.description = description;
    }
  }

  boolean is(Type other) {
    return type == other;
  }

  boolean isOperator(String operator) {
    return type == Type.OPERATOR && value.equals(operator);
  }

  boolean isName(String name) {
    return type == Type.NAME && value.equals(name);
  }

  String described() {
    return type == Type.NAME || type == Type.OPERATOR ? value : type.description;
  }
}
