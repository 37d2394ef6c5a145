package io.radixflow.client.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/** The options of the HTTP gateway. */
public final class GatewayConfig {

  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<String> HOST =
      ALL.text("gateway.host", "127.0.0.1").describe("Address that the gateway listens on.");

  public static final ConfigOption<Integer> PORT =
      ALL.integer("gateway.port", 8000, 0, 65_535)
          .describe("Port that the gateway listens on; 0 for any free port.");

  public static final ConfigOption<String> API_KEYS =
      ALL.text("gateway.api-keys", null)
          .describe(
              "File of API keys, read again when it changes; without it requests need no key."
                  + " './radixflow gateway-key' makes its lines.");

  public static final ConfigOption<Boolean> ALLOW_ANONYMOUS =
      ALL.flag("gateway.allow-anonymous", false)
          .describe(
              "Whether a gateway without API keys may listen on an address that other machines"
                  + " reach.");

  public static final ConfigOption<List<String>> CORS_ORIGINS =
      ALL.add(
              key("gateway.cors-origins").stringType().asList().defaultValues(),
              "'*', or origins such as https://chat.example.com",
              origins -> origins.stream().allMatch(GatewayConfig::isOrigin))
          .describe("Origins whose pages may use the gateway, besides the gateway's own pages.");

  public static final ConfigOption<String> TLS_CERTIFICATE =
      ALL.text("gateway.tls-certificate", null)
          .describe(
              "PEM file of the certificate chain; with gateway.tls-key the gateway serves TLS.");

  public static final ConfigOption<String> TLS_KEY =
      ALL.text("gateway.tls-key", null).describe("PEM file of the certificate's private key.");

  public static final ConfigOption<Integer> EVENT_LOOPS =
      ALL.integer("gateway.event-loops", 0, 0, 64)
          .describe("Threads that serve connections; 0 for one per core, at most 4.");

  public static final ConfigOption<String> MODEL_NAME =
      ALL.text("gateway.model-name", null)
          .describe("Name of the model in the API; without it the last part of 'model'.");

  public static final ConfigOption<List<String>> MODEL_ALIASES =
      ALL.add(
              key("gateway.model-aliases").stringType().asList().defaultValues("*"),
              "names, which may have '*' for any text, such as gpt-4o;claude-*",
              aliases -> true)
          .describe(
              "Other names that clients may use for the model; replies contain its own name. By"
                  + " default any name is accepted; empty accepts only the model's own name."
                  + " name=MODEL also checks that the job runs the model MODEL.");

  public static final ConfigOption<MemorySize> MAX_BODY =
      ALL.size("gateway.max-body", MemorySize.ofMebiBytes(4), "a memory size such as 4mb")
          .describe("Largest body of a request; keep it at or below events.max-bytes.");

  public static final ConfigOption<MemorySize> MAX_HEADERS =
      ALL.size("gateway.max-headers", new MemorySize(32 << 10), "a memory size such as 32kb")
          .describe("Largest headers of a request, all together.");

  public static final ConfigOption<MemorySize> BODY_MEMORY =
      ALL.size("gateway.body-memory", MemorySize.ofMebiBytes(256), "a memory size such as 256mb")
          .describe(
              "Memory for all request bodies that are being received; a request for which there is"
                  + " no room gets a 503. A tenant may use as much as is still free, so a single"
                  + " tenant gets half.");

  public static final ConfigOption<Integer> MAX_CONNECTIONS =
      ALL.integer("gateway.max-connections", 10_000, 1, Integer.MAX_VALUE)
          .describe(
              "Open connections at most; a further connection is closed at once. With API keys a"
                  + " tenant may have as many requests in progress as connections are still free,"
                  + " so a single tenant gets half.");

  public static final ConfigOption<Duration> REQUEST_TIMEOUT =
      ALL.duration("gateway.request-timeout", Duration.ofSeconds(75))
          .describe(
              "Time limit for the headers of a request, and again for its body; also how long a"
                  + " connection without a request stays open.");

  public static final ConfigOption<Integer> CLIENT_BUFFER =
      ALL.integer("gateway.client-buffer", 256 << 10, 1024, Integer.MAX_VALUE)
          .describe(
              "Characters of a reply that may wait for a client that reads slowly. If more wait,"
                  + " the stream is cut off; the client can resume it.");

  public static final ConfigOption<Duration> KEEP_ALIVE =
      ALL.duration("gateway.keep-alive", Duration.ofSeconds(15))
          .describe("Time without an event after which a stream gets a comment.");

  public static final ConfigOption<OnDisconnect> ON_DISCONNECT =
      ALL.choice("gateway.on-disconnect", OnDisconnect.CANCEL)
          .describe("What happens to a turn whose client has gone.");

  public static final ConfigOption<Boolean> STRICT =
      ALL.flag("gateway.strict", false)
          .describe(
              "Whether requests with unknown fields are refused; otherwise unknown fields are"
                  + " ignored.");

  public static final ConfigOption<UnreadableParts> UNREADABLE_PARTS =
      ALL.choice("gateway.unreadable-parts", UnreadableParts.NOTE)
          .describe(
              "What happens to an image, sound or file in a message, which no model here can read:"
                  + " a note replaces it, or the request is refused. In the result of a tool a note"
                  + " always replaces it.");

  public static final ConfigOption<String> OTLP_ENDPOINT =
      ALL.add(
              key("gateway.otlp-endpoint").stringType().noDefaultValue(),
              "a URL such as http://collector:4318",
              GatewayConfig::isUrl)
          .describe(
              "OpenTelemetry collector that gets a span of each request, at /v1/traces below this"
                  + " URL; by default the environment's OTEL_EXPORTER_OTLP_ENDPOINT, or none.");

  public static final ConfigOption<String> FLINK_URL =
      ALL.add(
              key("gateway.flink-url").stringType().noDefaultValue(),
              "a URL such as http://jobmanager:8081",
              GatewayConfig::isUrl)
          .describe(
              "Flink's REST interface, the source of the live page's figures; without it the page"
                  + " shows no figures.");

  private GatewayConfig() {}

  private static boolean isUrl(String text) {
    try {
      URI uri = new URI(text);
      return uri.getHost() != null && List.of("http", "https").contains(uri.getScheme());
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static boolean isOrigin(String origin) {
    return origin.equals("*") || origin.matches("https?://[a-zA-Z0-9.-]+(:[0-9]+)?");
  }

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  /** What happens to a part of a message that a model cannot read. */
  public enum UnreadableParts {
    NOTE,
    REFUSE
  }

  /** What happens to a turn whose client has gone. */
  public enum OnDisconnect {
    CANCEL,
    FINISH
  }
}
