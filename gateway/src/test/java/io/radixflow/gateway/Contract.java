package io.radixflow.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * The OpenAPI document, to check answers against. It is stricter than its readers need to be: an
 * answer may have no field that the document lacks. Safe for many threads.
 */
final class Contract {

  static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNode DOCUMENT = read();
  private static final Contract ONLY = new Contract();

  private final JsonNode closed = close(DOCUMENT.deepCopy());
  private final JsonSchemaFactory factory =
      JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012);
  private final Map<String, JsonSchema> schemas = new ConcurrentHashMap<>();

  private Contract() {}

  static Contract get() {
    return ONLY;
  }

  /** Returns the document as the gateway sends it. */
  static JsonNode document() {
    return DOCUMENT;
  }

  private static JsonNode read() {
    try (InputStream in = Contract.class.getResourceAsStream("/openapi/openapi.json")) {
      return JSON.readTree(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has every object of a schema refuse fields that it does not name. */
  private static JsonNode close(JsonNode node) {
    if (node instanceof ObjectNode object
        && object.path("properties").isObject()
        && object.path("type").toString().contains("\"object\"")
        && !object.has("additionalProperties")) {
      object.put("additionalProperties", false);
    }
    node.forEach(Contract::close);
    return node;
  }

  /** All operations, as METHOD and path. */
  static TreeSet<String> operations() {
    TreeSet<String> operations = new TreeSet<>();
    DOCUMENT
        .get("paths")
        .fields()
        .forEachRemaining(
            path ->
                path.getValue()
                    .fieldNames()
                    .forEachRemaining(
                        method -> {
                          if (List.of("get", "head", "post", "delete").contains(method)) {
                            operations.add(method.toUpperCase() + " " + path.getKey());
                          }
                        }));
    return operations;
  }

  /**
   * The contract of a response.
   *
   * @param content media types of the response; the types of an error if no operation has the path
   */
  record Answer(Contract contract, String name, JsonNode content) {

    /** Returns the faults of a whole body. */
    List<String> body(String text) {
      JsonNode schema = content.path("application/json").path("schema");
      return schema.isMissingNode() ? List.of() : contract.check(name, schema, text);
    }

    /** Returns the faults in the data of a server-sent event. */
    List<String> event(String data) {
      JsonNode media = content.path("text/event-stream");
      return data.equals(media.path("x-event-end").asText(null))
          ? List.of()
          : contract.check(name + " event", media.path("x-event-schema"), data);
    }
  }

  /**
   * Finds what a response may be.
   *
   * @return null if the path is none of the document's, and the answer no error
   * @throws AssertionError if the operation has no such status or type of content
   */
  Answer answer(String method, String path, int status, String type) {
    String name = method + " " + path + " " + status + " " + type;
    JsonNode operation = operation(method, path);
    JsonNode response;
    if (operation == null) {
      if (status < 400) {
        return null; // a page of the console
      }
      response = closed.at("/components/responses/Error");
    } else {
      JsonNode responses = operation.get("responses");
      response = responses.path(Integer.toString(status));
      response = response.isMissingNode() ? responses.path("default") : response;
      if (response.isMissingNode()) {
        throw new AssertionError(name + ": the document has no such status");
      }
      response = resolved(response);
    }
    String media = type == null ? null : type.replaceAll(";.*", "");
    if (media != null && !response.path("content").has(media) && !method.equals("HEAD")) {
      throw new AssertionError(name + ": the document has no such type of content");
    }
    return new Answer(this, name, response.path("content"));
  }

  private JsonNode operation(String method, String path) {
    JsonNode found = null;
    for (Map.Entry<String, JsonNode> entry : closed.get("paths").properties()) {
      if (entry.getKey().equals(path) && entry.getValue().has(method.toLowerCase())) {
        return entry.getValue().get(method.toLowerCase());
      }
      String segment = entry.getKey().endsWith("{model}") ? ".+" : "[^/]+";
      String pattern =
          Pattern.quote(entry.getKey())
              .replaceAll("\\{[a-z]+}", "\\\\E" + segment.replace("\\", "\\\\") + "\\\\Q");
      if (found == null && path.matches(pattern)) {
        found = entry.getValue().get(method.toLowerCase());
      }
    }
    return found;
  }

  private JsonNode resolved(JsonNode node) {
    String reference = node.path("$ref").asText(null);
    return reference == null ? node : closed.at(reference.substring(1));
  }

  private List<String> check(String name, JsonNode schema, String text) {
    JsonNode tree;
    try {
      tree = JSON.readTree(text);
    } catch (IOException e) {
      return List.of(name + ": no JSON: " + text);
    }
    List<String> problems = new ArrayList<>();
    schemas
        .computeIfAbsent(schema.toString(), key -> compile(schema))
        .validate(tree)
        .forEach(problem -> problems.add(name + ": " + problem + " in " + text));
    return problems;
  }

  /** Adds the components to the schema, whose references need them. */
  private JsonSchema compile(JsonNode schema) {
    ObjectNode root = schema.deepCopy();
    root.set("components", closed.get("components"));
    return factory.getSchema(root);
  }

  /** Returns all schemas of the document by their names. */
  static Map<String, JsonNode> components() {
    Map<String, JsonNode> components = new TreeMap<>();
    DOCUMENT
        .at("/components/schemas")
        .properties()
        .forEach(each -> components.put(each.getKey(), each.getValue()));
    return components;
  }
}
