package io.radixflow.grammar.rule;

/**
 * A JSON schema, and how it is enforced.
 *
 * @param text the schema as JSON
 * @param subject what the schema describes, for error messages; empty if the messages need not say
 *     it
 * @param base the JSON pointer to this schema within a larger schema; empty for a whole schema
 * @param loose whether constraints that cannot be enforced are left out; otherwise they are refused
 * @param end the mark that ends a plain text, which must not contain the mark; empty if the value
 *     is JSON
 */
public record SchemaSource(String text, String subject, String base, boolean loose, String end) {
  public SchemaSource(String text) {
    this(text, "", "", false, "");
  }
}
