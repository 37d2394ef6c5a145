package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A schema within the document that is compiled.
 *
 * @param schema an object or a boolean
 * @param place its JSON pointer
 */
record SchemaPart(JsonNode schema, String place) {
  SchemaPart child(String keyword) {
    return new SchemaPart(schema.get(keyword), place + "/" + keyword);
  }

  SchemaPart child(String keyword, String name) {
    return new SchemaPart(schema.get(keyword).get(name), place + "/" + keyword + "/" + name);
  }

  SchemaPart child(String keyword, int index) {
    return new SchemaPart(schema.get(keyword).get(index), place + "/" + keyword + "/" + index);
  }

  boolean has(String keyword) {
    return schema.has(keyword);
  }
}
