package io.radixflow.gateway.http;

import io.vertx.core.http.HttpMethod;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The routes of the gateway: methods, paths and their endpoints. A path segment in braces matches
 * any text, as in {@code /v1/models/{model}}; {@code {rest*}} as the last segment matches the rest
 * of the path.
 */
public final class Routes {

  private final List<Route> routes = new ArrayList<>();
  private final Map<String, List<Route>> exact = new HashMap<>();

  /**
   * A route.
   *
   * @param path the path with its braces, as metrics show it
   * @param open whether the route needs no API key
   */
  record Route(
      HttpMethod method,
      String path,
      List<String> segments,
      ErrorFormat errors,
      boolean open,
      Endpoint endpoint) {

    boolean hasBody() {
      return method != HttpMethod.GET && method != HttpMethod.HEAD && method != HttpMethod.DELETE;
    }
  }

  /**
   * A route that matches a path.
   *
   * @param parameters the texts of the segments in braces
   */
  record Match(Route route, Map<String, String> parameters) {}

  /** Adds a route with OpenAI's errors. */
  public Routes add(HttpMethod method, String path, Endpoint endpoint) {
    return add(method, path, ErrorFormat.OPENAI, endpoint);
  }

  /** Adds a route. */
  public Routes add(HttpMethod method, String path, ErrorFormat errors, Endpoint endpoint) {
    return add(new Route(method, path, segments(path), errors, false, endpoint));
  }

  /** Adds a route that needs no API key, such as a probe or a page. */
  public Routes addOpen(HttpMethod method, String path, Endpoint endpoint) {
    return add(new Route(method, path, segments(path), ErrorFormat.OPENAI, true, endpoint));
  }

  private Routes add(Route route) {
    if (route.path().contains("{")) {
      routes.add(route);
    } else {
      exact.computeIfAbsent(route.path(), path -> new ArrayList<>()).add(route);
    }
    return this;
  }

  /** Returns the names of all routes: method and path, with braces. */
  public Set<String> names() {
    Set<String> names = new TreeSet<>();
    Stream.concat(routes.stream(), exact.values().stream().flatMap(List::stream))
        .forEach(route -> names.add(route.method() + " " + route.path()));
    return names;
  }

  /**
   * Finds the route of a request; a HEAD request uses the route of GET.
   *
   * @throws ApiException with status 404 or 405 if no route matches
   */
  Match find(HttpMethod method, String path) {
    HttpMethod wanted = method == HttpMethod.HEAD ? HttpMethod.GET : method;
    TreeSet<String> allowed = new TreeSet<>();
    for (Route route : exact.getOrDefault(path, List.of())) {
      if (route.method() == method || route.method() == wanted) {
        return new Match(route, Map.of());
      }
      allowed.add(route.method().name());
    }
    List<String> segments = segments(path);
    for (Route route : routes) {
      Map<String, String> parameters = match(route.segments(), segments);
      if (parameters != null) {
        if (route.method() == wanted) {
          return new Match(route, parameters);
        }
        allowed.add(route.method().name());
      }
    }
    if (allowed.isEmpty()) {
      throw ApiException.notFound(absent(path));
    }
    throw ApiException.notAllowed(allowed);
  }

  /**
   * Returns the message for a path without a route. It names the endpoints of other servers that
   * this gateway does not have.
   */
  private static String absent(String path) {
    String last = path.substring(path.lastIndexOf('/') + 1);
    return switch (last) {
      case "embeddings", "embedding", "rerank", "reranking", "score", "pooling", "classify" ->
          "this server generates text alone: it has no embeddings, ranks and scores; ask another"
              + " server for "
              + last;
      case "generations", "edits", "variations", "speech", "transcriptions", "translations" ->
          "this server generates text alone: it has no images and no sound";
      default -> "there is nothing at this path; docs/gateway.md has all endpoints";
    };
  }

  private static List<String> segments(String path) {
    return List.of(path.split("/", -1));
  }

  /** Returns the parameters, or null if the path does not match. */
  private static Map<String, String> match(List<String> pattern, List<String> path) {
    Map<String, String> parameters = new HashMap<>();
    for (int i = 0; i < pattern.size(); i++) {
      String expected = pattern.get(i);
      if (i >= path.size()) {
        return null;
      }
      if (expected.endsWith("*}")) {
        String rest = String.join("/", path.subList(i, path.size()));
        parameters.put(expected.substring(1, expected.length() - 2), decoded(rest));
        return parameters;
      }
      if (expected.startsWith("{")) {
        if (path.get(i).isEmpty()) {
          return null;
        }
        parameters.put(expected.substring(1, expected.length() - 1), decoded(path.get(i)));
      } else if (!expected.equals(path.get(i))) {
        return null;
      }
    }
    return pattern.size() == path.size() ? parameters : null;
  }

  private static String decoded(String segment) {
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(null, "the path has a wrong escape sequence");
    }
  }
}
