/**
 * JSON Schema as rules: what each keyword allows a value to be. {@code SchemaKeywords} only checks
 * keywords; {@code StringLanguage} has the texts that each keyword of strings allows.
 */
package io.radixflow.grammar.schema;
