/**
 * Converts JSON Schema to rules: the values that each keyword allows. {@code SchemaKeywords} only
 * checks keywords; {@code StringLanguage} has the texts that each keyword of strings allows.
 */
package io.radixflow.grammar.schema;
