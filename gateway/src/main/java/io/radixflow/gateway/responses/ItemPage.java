package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The part of a list that a client asks for.
 *
 * @param after the id of the last item that the client has, or null
 * @param limit maximum number of items on the page
 * @param descending whether the newest item is first
 */
record ItemPage(String after, int limit, boolean descending) {

  private static final Pattern LIMIT = Pattern.compile("[1-9][0-9]?|100");

  /** Reads a page from the query parameters of a request. */
  static ItemPage of(Exchange exchange) {
    return of(
        exchange.queryParameter("after"),
        exchange.queryParameter("limit"),
        exchange.queryParameter("order"));
  }

  /** Reads a page from query parameters; each may be null. */
  static ItemPage of(String after, String limit, String order) {
    if (limit != null && !LIMIT.matcher(limit).matches()) {
      throw new InvalidInputException("limit must be 1 to 100");
    }
    List<String> orders = List.of("asc", "desc");
    if (order != null && !orders.contains(order)) {
      throw JsonObject.notOneOf("order", order, orders);
    }
    return new ItemPage(after, limit == null ? 20 : Integer.parseInt(limit), !"asc".equals(order));
  }

  /**
   * Writes the page.
   *
   * @param items all items, oldest first; each has an id
   */
  ObjectNode of(List<ObjectNode> items) {
    return of(items, item -> item.get("id").textValue(), item -> item);
  }

  /**
   * Writes the page.
   *
   * @param items all items, oldest first
   * @param id gives the id of an item
   * @param json writes an item of the page
   */
  <T> ObjectNode of(List<T> items, Function<T, String> id, Function<T, ObjectNode> json) {
    List<T> ordered = new ArrayList<>(items);
    if (descending) {
      Collections.reverse(ordered);
    }
    int from = 0;
    if (after != null) {
      from = 1;
      while (from <= ordered.size() && !id.apply(ordered.get(from - 1)).equals(after)) {
        from++;
      }
      if (from > ordered.size()) {
        throw new InvalidInputException("after names no item of this list");
      }
    }
    List<T> page = ordered.subList(from, Math.min(ordered.size(), from + limit));
    ObjectNode list = JsonNodeFactory.instance.objectNode().put("object", "list");
    ArrayNode data = list.putArray("data");
    page.forEach(item -> data.add(json.apply(item)));
    list.put("first_id", page.isEmpty() ? null : id.apply(page.get(0)));
    list.put("last_id", page.isEmpty() ? null : id.apply(page.get(page.size() - 1)));
    list.put("has_more", from + page.size() < ordered.size());
    return list;
  }
}
