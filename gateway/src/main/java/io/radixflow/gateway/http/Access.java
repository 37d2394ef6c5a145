package io.radixflow.gateway.http;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.gateway.auth.ApiKeys;
import io.radixflow.gateway.auth.AuthDecision;
import io.radixflow.protocol.fair.FairLimit;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Decides which requests are admitted, by API key and, for browsers, by origin. Without keys,
 * requests from pages of other origins and requests to foreign host names are refused. Without this
 * check, any page that a user opens could send requests.
 */
final class Access {

  private static final String EVERY = "*";
  private static final Pattern NAMES = Pattern.compile("[A-Za-z0-9_, -]{1,1024}");

  private final ApiKeys keys;
  private final FairLimit requests;
  private final Set<String> origins;
  private final Set<String> hosts = new HashSet<>(Set.of("localhost"));

  private Access(ApiKeys keys, int maxRequests, Set<String> origins) {
    this.keys = keys;
    this.requests = new FairLimit(maxRequests);
    this.origins = origins;
    for (String origin : origins) {
      if (!origin.equals(EVERY)) {
        hosts.add(URI.create(origin).getHost());
      }
    }
  }

  /**
   * Reads the keys, if a file of keys is configured.
   *
   * @throws IOException if the file cannot be used, or if other machines can reach the address and
   *     there are no keys
   */
  static Access of(Settings settings, InetAddress address) throws IOException {
    String file = settings.get(GatewayConfig.API_KEYS);
    ApiKeys keys = file == null ? null : ApiKeys.read(Path.of(file));
    boolean open = keys == null && !settings.get(GatewayConfig.ALLOW_ANONYMOUS);
    if (open && !address.isLoopbackAddress()) {
      throw new IOException(
          "gateway.host is "
              + settings.get(GatewayConfig.HOST)
              + ", which other machines reach, and there are no API keys: make some with"
              + " ./radixflow gateway-key and name their file in gateway.api-keys, or say"
              + " gateway.allow-anonymous=true if everyone who reaches it may use it");
    }
    return new Access(
        keys,
        settings.get(GatewayConfig.MAX_CONNECTIONS),
        Set.copyOf(settings.get(GatewayConfig.CORS_ORIGINS)));
  }

  /** Reads the keys again if they have changed. Blocks. */
  void reload() {
    if (keys != null) {
      keys.reload();
    }
  }

  /**
   * Admits a request of a route that needs a key.
   *
   * @throws ApiException with status 401 or 429 if it is not admitted
   */
  AuthDecision admit(HttpServerRequest request) {
    if (keys == null) {
      return AuthDecision.anonymous();
    }
    AuthDecision admission = keys.admit(key(request));
    return switch (admission.outcome()) {
      case ADMITTED -> counted(admission);
      case UNKNOWN_KEY ->
          throw ApiException.unauthorized(
              "there is no API key, or it is wrong: send the header Authorization: Bearer KEY");
      case TOO_MANY_REQUESTS ->
          throw ApiException.busy(
              "rate_limit_exceeded",
              "the API key's requests of this minute are used up",
              admission.retryAfterSeconds());
      case TOO_MANY_CONCURRENT ->
          throw ApiException.busy(
              "rate_limit_exceeded",
              "the API key has as many requests in progress as it may",
              admission.retryAfterSeconds());
    };
  }

  private AuthDecision counted(AuthDecision admission) {
    String tenant = admission.caller().tenant();
    if (!requests.take(tenant, 1)) {
      admission.release().run();
      throw ApiException.busy(
          "rate_limit_exceeded",
          "the tenant has as many requests in progress as the gateway has room for",
          1);
    }
    return admission.alsoReleasing(() -> requests.release(tenant, 1));
  }

  private static String key(HttpServerRequest request) {
    String bearer = request.getHeader("authorization");
    if (bearer != null && bearer.regionMatches(true, 0, "Bearer ", 0, 7)) {
      return bearer.substring(7).strip();
    }
    return request.getHeader("x-api-key");
  }

  /**
   * Checks the origin of a browser's request, and lets an allowed page read the response.
   *
   * @throws ApiException with status 403 if the origin is not allowed
   */
  void checkOrigin(HttpServerRequest request) {
    String host = host(request);
    if (keys == null && !origins.contains(EVERY) && !isOwn(host)) {
      throw ApiException.forbidden(
          "the host "
              + host
              + " is not one of this gateway's: name it in "
              + "gateway.cors-origins, or use API keys");
    }
    String origin = request.getHeader("origin");
    if (origin == null) {
      if (!origins.contains(EVERY) && isPartOfAnotherSite(request)) {
        throw ApiException.forbidden("pages of other sites are not allowed");
      }
      return;
    }
    boolean allowed = origins.contains(EVERY) || origins.contains(origin);
    if (allowed) {
      request
          .response()
          .putHeader("access-control-allow-origin", origins.contains(EVERY) ? EVERY : origin)
          .putHeader("vary", "Origin")
          .putHeader(
              "access-control-expose-headers",
              "X-Radixflow-Ignored, X-Radixflow-Session, X-Radixflow-Turn, X-Request-Id,"
                  + " Retry-After");
    } else if (!sameOrigin(origin, request)) {
      throw ApiException.forbidden(
          "pages of this origin are not allowed: name it in gateway.cors-origins");
    }
  }

  /**
   * Returns whether a page of another site loads the response as an image, a script or a frame. In
   * these cases a browser sends no origin. A link that a user follows does not count.
   */
  private static boolean isPartOfAnotherSite(HttpServerRequest request) {
    String site = request.getHeader("sec-fetch-site");
    boolean link =
        "navigate".equals(request.getHeader("sec-fetch-mode"))
            && "document".equals(request.getHeader("sec-fetch-dest"));
    return site != null && !site.equals("same-origin") && !site.equals("none") && !link;
  }

  /** Answers the preflight request that a browser sends before a request from another origin. */
  static void preflight(HttpServerRequest request) {
    String headers = request.getHeader("access-control-request-headers");
    request
        .response()
        .setStatusCode(204)
        .putHeader("access-control-allow-methods", "GET, POST, DELETE")
        .putHeader("access-control-allow-headers", isNames(headers) ? headers : "content-type")
        .putHeader("access-control-max-age", "600")
        .end();
  }

  /** Returns whether a text is a list of header names. Only such a list may be sent back. */
  private static boolean isNames(String text) {
    return text != null && NAMES.matcher(text).matches();
  }

  private static String host(HttpServerRequest request) {
    HostAndPort authority = request.authority();
    return authority == null ? "localhost" : authority.host().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns whether a host is this gateway's. Addresses and the name localhost are safe, because no
   * one can make them resolve to another machine.
   */
  private boolean isOwn(String host) {
    return hosts.contains(host) || host.contains(":") || host.matches("[0-9.]+");
  }

  private static boolean sameOrigin(String origin, HttpServerRequest request) {
    String host = request.getHeader("host");
    return host != null
        && List.of("http://" + host, "https://" + host).contains(origin.toLowerCase(Locale.ROOT));
  }
}
