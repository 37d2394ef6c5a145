package io.radixflow.grammar.rule;

/**
 * A schema, and how it is enforced.
 *
 * @param text the schema as JSON
 * @param subject what it describes, for errors; empty if there is nothing to say
 * @param base the pointer of this schema within a larger one; empty for a whole one
 * @param loose whether what cannot be enforced is left out; otherwise it is refused
 * @param end the mark before which a plain text ends, so the text does not contain it; empty if the
 *     value is JSON
 */
public record SchemaSource(String text, String subject, String base, boolean loose, String end) {
  public SchemaSource(String text) {
    this(text, "", "", false, "");
  }
}
