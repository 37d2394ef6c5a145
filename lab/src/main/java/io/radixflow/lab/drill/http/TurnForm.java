package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.ToolCall;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;

/**
 * The form that a turn of a drill requires of its reply. Half of the turns are free; the others
 * require JSON of a schema or tool calls.
 *
 * @param variant chooses a schema, the arguments in the user's message, and whether a reply may
 *     have several calls; 0 or more
 */
public record TurnForm(Kind kind, int variant) {

  /** The forms; REQUIRED, NAMED and AUTO are choices of tools. */
  public enum Kind {
    FREE,
    STRUCTURED,
    REQUIRED,
    NAMED,
    AUTO
  }

  /** A turn without requirements. */
  public static final TurnForm FREE = new TurnForm(Kind.FREE, 0);

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int VARIANTS = 1000;
  private static final int RESULTS = 10_000;
  private static final String NAMED = "tide_at";

  /** The schemas of structured replies, and the tools. */
  private static final JsonNode FORMS = read();

  private static final JsonNode TOOLS = FORMS.get("tools");

  public static TurnForm draw(SplittableRandom random) {
    Kind kind =
        switch (random.nextInt(10)) {
          case 0, 1, 2, 3, 4 -> Kind.FREE;
          case 5, 6 -> Kind.STRUCTURED;
          case 7 -> Kind.REQUIRED;
          case 8 -> Kind.NAMED;
          default -> Kind.AUTO;
        };
    return new TurnForm(kind, random.nextInt(VARIANTS));
  }

  public boolean hasTools() {
    return kind == Kind.REQUIRED || kind == Kind.NAMED || kind == Kind.AUTO;
  }

  /** Returns the form of a turn with results for a turn of this form; its reply may call again. */
  public TurnForm ofResults() {
    return new TurnForm(Kind.AUTO, variant);
  }

  /**
   * Returns the user's message. If the model chooses the calls, the message tells the simulated
   * model which calls to make.
   */
  public String input(String sentence) {
    if (kind != Kind.AUTO) {
      return sentence;
    }
    String light =
        "call find_light {\"name\": \"Reef %d\", \"miles\": %d}"
            .formatted(variant, 1 + variant % 40);
    String tide = "call tide_at {\"harbour\": \"Møn\", \"hour\": %d}".formatted(variant % 24);
    return variant % 2 == 0 ? light : light + "\n" + tide;
  }

  /** Returns a tool's result of a call. */
  public static String result(ToolCall call) {
    long hash = StableHash.of64(call.id(), call.name(), call.arguments());
    return call.name() + " gives " + Math.floorMod(hash, RESULTS);
  }

  /** Adds this form to the options of an event. */
  public void addTo(GenerationOptions.Builder options) {
    if (kind == Kind.STRUCTURED) {
      options.responseFormat(format().toString());
    }
    if (hasTools()) {
      JsonNode choice = choice();
      options
          .tools(TOOLS.toString())
          .toolChoice(choice.isTextual() ? choice.textValue() : choice.toString())
          .parallelToolCalls(mayCallTwice());
    }
  }

  /** Adds this form to the body of a chat completion or of a response. */
  void addTo(ObjectNode body, boolean chat) {
    if (kind == Kind.STRUCTURED) {
      if (chat) {
        body.set("response_format", format());
      } else {
        body.putObject("text").set("format", flatFormat());
      }
    }
    if (hasTools()) {
      body.put("parallel_tool_calls", mayCallTwice());
      body.set("tools", chat ? TOOLS : flat());
      JsonNode choice = choice();
      if (!chat && choice.isObject()) {
        choice = MAPPER.createObjectNode().put("type", "function").put("name", NAMED);
      }
      body.set("tool_choice", choice);
    }
  }

  private boolean mayCallTwice() {
    return kind == Kind.AUTO || variant % 3 == 0;
  }

  private ObjectNode format() {
    ObjectNode format = MAPPER.createObjectNode().put("type", "json_schema");
    format
        .putObject("json_schema")
        .put("name", "log")
        .put("strict", true)
        .set("schema", FORMS.get("schemas").get(variant % FORMS.get("schemas").size()));
    return format;
  }

  /** Returns the format in the form of the responses API. */
  private ObjectNode flatFormat() {
    ObjectNode format = MAPPER.createObjectNode().put("type", "json_schema");
    return format.setAll((ObjectNode) format().get("json_schema"));
  }

  private JsonNode choice() {
    return switch (kind) {
      case REQUIRED -> MAPPER.getNodeFactory().textNode("required");
      case NAMED -> {
        ObjectNode named = MAPPER.createObjectNode().put("type", "function");
        named.putObject("function").put("name", NAMED);
        yield named;
      }
      default -> MAPPER.getNodeFactory().textNode("auto");
    };
  }

  /** Returns the tools in the form of the responses API. */
  private static ArrayNode flat() {
    ArrayNode tools = MAPPER.createArrayNode();
    for (JsonNode tool : TOOLS) {
      tools.addObject().put("type", "function").setAll((ObjectNode) tool.get("function"));
    }
    return tools;
  }

  private static JsonNode read() {
    try (InputStream forms = TurnForm.class.getResourceAsStream("forms.json")) {
      return MAPPER.readTree(forms);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
