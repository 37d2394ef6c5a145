package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.protocol.json.JsonObject;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * Handles the fields of a request that an API does not support. Fields that would change the
 * meaning of the reply are refused by name. Other fields are ignored and named in the response; a
 * strict request is refused because of them.
 */
public final class RequestFields {

  private RequestFields() {}

  /** Returns the names in a text, with spaces or line ends between them. */
  public static Set<String> names(String text) {
    return Set.of(text.strip().split("\\s+"));
  }

  /**
   * Checks the fields of a body, removes the ignored fields, and names them in the response.
   *
   * @param served fields that the endpoint reads
   * @param refused fields that are refused unless they are null, false, or empty, besides the
   *     fields of {@link ReplyShapers}
   * @return the body with only the served fields
   * @throws ApiException if a field is refused
   */
  public static JsonObject check(Exchange exchange, Set<String> served, Set<String> refused) {
    ObjectNode body = exchange.body();
    List<String> ignored = new ArrayList<>();
    for (Iterator<String> names = body.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (served.contains(name)) {
        continue;
      }
      JsonNode value = body.get(name);
      boolean asks = refused.contains(name) && !ReplyShapers.saysNothing(value);
      if (asks || ReplyShapers.shapes(name, value)) {
        throw ApiException.notServed(name);
      }
      if (!value.isNull()) {
        ignored.add(name);
      }
      names.remove();
    }
    ignore(exchange, ignored);
    return JsonObject.of(body, "the body");
  }

  /**
   * Ignores fields and names them in the response.
   *
   * @throws ApiException if the request is strict
   */
  public static void ignore(Exchange exchange, List<String> fields) {
    if (fields.isEmpty()) {
      return;
    }
    if (exchange.isStrict()) {
      throw new ApiException(
          400,
          "invalid_request_error",
          "unknown_parameter",
          fields.get(0),
          fields.get(0) + " is unknown or not served, and the request is strict");
    }
    exchange.ignored(fields);
  }
}
