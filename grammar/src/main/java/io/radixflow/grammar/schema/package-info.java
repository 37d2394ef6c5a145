/** JSON Schema as rules: what each keyword allows a value to be. */
package io.radixflow.grammar.schema;
