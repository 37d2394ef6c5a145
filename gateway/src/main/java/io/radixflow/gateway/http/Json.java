package io.radixflow.gateway.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import com.fasterxml.jackson.core.util.JsonGeneratorDelegate;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.json.JsonLimits;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.json.WrittenNumbers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads bodies of requests within bounds, and writes bodies of responses. */
public final class Json {

  /** The most fields of the body's top object, because an event loop handles each field. */
  private static final int MAX_FIELDS = 1000;

  private static final Pattern TWICE = Pattern.compile("Duplicate field '(.*)'", Pattern.DOTALL);

  /** The beginning of the parser's message about text after the value. */
  private static final String TRAILING = "Trailing token";

  /** The part of the parser's message that names the parser's own option for a limit. */
  private static final Pattern LIMIT = Pattern.compile(", from `[^`]*`");

  /** Levels of nesting that a request adds around a value from a response. */
  private static final int AROUND = 8;

  private static final JsonFactory RETURNED = returned().mapper().getFactory();
  private static final ObjectMapper WRITER = new ObjectMapper();
  private static final ObjectMapper READER = JsonLimits.BODY.mapper();

  private Json() {}

  private static JsonLimits returned() {
    JsonLimits body = JsonLimits.BODY;
    return new JsonLimits(body.depth() - AROUND, body.tokens(), body.name(), body.number());
  }

  /**
   * Returns whether a value of a response can be part of a later request, within the limits of a
   * body.
   */
  public static boolean canReturn(String value) {
    try (JsonParser parser = RETURNED.createParser(value)) {
      parser.disable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
      while (parser.nextToken() != null) {
        parser.finishToken(); // a number is checked only when the parser reads it to its end
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns a tree as UTF-8. */
  public static byte[] write(JsonNode tree) {
    try (ByteArrayBuilder bytes = new ByteArrayBuilder()) {
      try (JsonGenerator json = new WellFormed(WRITER.createGenerator(bytes))) {
        WRITER.writeTree(json, tree);
      }
      return bytes.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  /** Writes a lone surrogate as U+FFFD, because UTF-8 cannot encode surrogates. */
  private static final class WellFormed extends JsonGeneratorDelegate {
    WellFormed(JsonGenerator json) {
      super(json, false);
    }

    @Override
    public void writeFieldName(String name) throws IOException {
      super.writeFieldName(Texts.wellFormed(name));
    }

    @Override
    public void writeString(String text) throws IOException {
      super.writeString(text == null ? null : Texts.wellFormed(text));
    }
  }

  /** Returns a new, empty object. */
  public static ObjectNode object() {
    return WRITER.createObjectNode();
  }

  /**
   * Reads an object; an empty body is an empty object.
   *
   * @throws ApiException with status 400 if the bytes are not a JSON object
   */
  static ObjectNode read(byte[] bytes) {
    if (bytes.length == 0) {
      return object();
    }
    checkEncoding(bytes);
    try {
      JsonNode tree = WrittenNumbers.read(READER, bytes);
      if (tree instanceof ObjectNode object && object.size() > MAX_FIELDS) {
        throw ApiException.badRequest(
            null, "the body has " + object.size() + " fields; " + MAX_FIELDS + " are read");
      }
      if (tree instanceof ObjectNode object) {
        return object;
      }
      throw ApiException.badRequest(null, "the body is not a JSON object");
    } catch (JsonProcessingException e) {
      Matcher twice = TWICE.matcher(e.getOriginalMessage());
      if (twice.matches()) {
        String name = twice.group(1);
        throw ApiException.badRequest(
            name, "the body has the key " + Texts.quote(name) + " twice in one object");
      }
      String why = LIMIT.matcher(e.getOriginalMessage()).replaceAll("");
      throw ApiException.badRequest(
          null,
          "the body is not valid JSON: "
              + (why.startsWith(TRAILING) ? "text follows its end" : why));
    } catch (IOException e) {
      throw ApiException.badRequest(null, "the body cannot be read: " + e.getMessage());
    }
  }

  /**
   * Checks that the body is UTF-8, as JSON must be. A filter in front of the gateway could read a
   * body in another encoding differently.
   */
  private static void checkEncoding(byte[] bytes) {
    boolean zero = false;
    for (int i = 0; i < Math.min(4, bytes.length); i++) {
      zero |= bytes[i] == 0;
    }
    int first = bytes[0] & 0xff;
    if (zero || first == 0xfe || first == 0xff) {
      throw ApiException.badRequest(null, "the body is not UTF-8, as JSON must be: send UTF-8");
    }
  }
}
