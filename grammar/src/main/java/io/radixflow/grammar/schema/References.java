package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.grammar.rule.SchemaSource;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Finds the schemas that references name: by pointer, anchor or id, within one document. */
final class References {
  private final JsonNode root;
  private final SchemaSource source;

  /** Schemas by their ids, as written and as addresses; computed on first use. */
  private Map<String, SchemaPart> ids;

  private Map<String, SchemaPart> anchors;

  References(JsonNode root, SchemaSource source) {
    this.root = root;
    this.source = source;
  }

  SchemaPart resolve(SchemaPart part) {
    String reference = part.schema().get("$ref").textValue();
    int hash = reference.indexOf('#');
    String document = hash < 0 ? reference : reference.substring(0, hash);
    SchemaPart base = new SchemaPart(root, "#" + source.base());
    if (!document.isEmpty()) {
      index();
      base = ids.get(document);
      if (base == null && ids.containsKey("")) {
        base = ids.get(resolve(ids.get("").schema().get("$id").asText(), document));
      }
      if (base == null) {
        throw refused(part, "to another document is not supported");
      }
    }
    return hash < 0 ? base : within(part, base, reference.substring(hash + 1));
  }

  private SchemaPart within(SchemaPart part, SchemaPart base, String fragment) {
    String pointer;
    try {
      pointer = URLDecoder.decode(fragment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw refused(part, "is malformed");
    }
    if (!pointer.isEmpty() && !pointer.startsWith("/")) {
      index();
      SchemaPart named = anchors.get(pointer);
      if (named == null) {
        throw refused(part, "names an anchor that does not exist");
      }
      return named;
    }
    JsonNode target = base.schema().at(pointer);
    if (target.isMissingNode()) {
      throw refused(part, "names a schema that does not exist");
    }
    return new SchemaPart(target, base.place() + pointer);
  }

  private static RuntimeException refused(SchemaPart part, String why) {
    return SchemaKeywords.refused("$ref", part.place(), why);
  }

  private void index() {
    if (ids == null) {
      ids = new HashMap<>();
      anchors = new HashMap<>();
      index(root, "#" + source.base(), "");
    }
  }

  private void index(JsonNode node, String place, String outer) {
    String base = outer;
    if (node.isObject() && node.path("$id").isTextual()) {
      String id = node.get("$id").textValue();
      SchemaPart part = new SchemaPart(node, place);
      base = resolve(outer, id);
      ids.putIfAbsent(id, part);
      ids.putIfAbsent(base, part);
      if (node == root) {
        ids.put("", part);
      }
    }
    for (String anchor : new String[] {"$anchor", "$dynamicAnchor"}) {
      if (node.isObject() && node.path(anchor).isTextual()) {
        anchors.putIfAbsent(node.get(anchor).textValue(), new SchemaPart(node, place));
      }
    }
    String inner = base;
    if (node.isObject()) {
      node.fields().forEachRemaining(f -> index(f.getValue(), place + "/" + f.getKey(), inner));
    }
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      index(node.get(i), place + "/" + i, inner);
    }
  }

  private static String resolve(String base, String id) {
    try {
      return base.isEmpty() ? id : URI.create(base).resolve(id).toString();
    } catch (IllegalArgumentException e) {
      return id;
    }
  }
}
