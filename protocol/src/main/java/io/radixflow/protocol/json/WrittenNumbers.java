package io.radixflow.protocol.json;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.NumericNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;

/**
 * Reads trees whose numbers are written exactly as they were read. For {@code 1e400}, {@code -0}
 * and {@code 0.10} no double or int is written in the same way. The values of the numbers are the
 * nearest doubles and ints.
 */
public final class WrittenNumbers {
  private WrittenNumbers() {}

  /**
   * Reads a text in UTF-8 like {@code mapper}; a blank text is a missing node.
   *
   * @throws com.fasterxml.jackson.core.JsonProcessingException if the bytes are not JSON
   */
  public static JsonNode read(ObjectMapper mapper, byte[] utf8) throws IOException {
    return read(mapper, mapper.createParser(utf8));
  }

  /** Reads a text. Throws the same errors as {@link #read(ObjectMapper, byte[])}. */
  public static JsonNode read(ObjectMapper mapper, String text) throws IOException {
    return read(mapper, mapper.createParser(text));
  }

  /**
   * Reads the value at or after a parser's position; a missing node at the end. Throws the same
   * errors.
   */
  public static JsonNode next(ObjectMapper mapper, JsonParser parser) throws IOException {
    JsonNode tree = mapper.reader().with(new Factory(parser)).readTree(parser);
    return tree == null ? MissingNode.getInstance() : tree;
  }

  private static JsonNode read(ObjectMapper mapper, JsonParser parser) throws IOException {
    try (parser) {
      JsonNode tree = next(mapper, parser);
      return tree == null ? MissingNode.getInstance() : tree;
    }
  }

  /** Makes number nodes while the parser is at their tokens. */
  private static final class Factory extends JsonNodeFactory {
    private static final long serialVersionUID = 1L;

    private final transient JsonParser parser;

    Factory(JsonParser parser) {
      this.parser = parser;
    }

    @Override
    public NumericNode numberNode(double value) {
      String text = text();
      // some parsers accept words such as NaN, which cannot be written as numbers
      boolean word = text.endsWith("N") || text.endsWith("y");
      return word ? super.numberNode(value) : new Written(super.numberNode(value), text);
    }

    @Override
    public NumericNode numberNode(int value) {
      return value == 0 && text().startsWith("-")
          ? new Written(super.numberNode(value), "-0")
          : super.numberNode(value);
    }

    private String text() {
      try {
        return parser.getText();
      } catch (IOException e) {
        throw new UncheckedIOException("the text was read already", e);
      }
    }
  }

  /** A number with its original text. */
  private static final class Written extends NumericNode {
    private static final long serialVersionUID = 1L;

    private final NumericNode value;
    private final String text;

    Written(NumericNode value, String text) {
      this.value = value;
      this.text = text;
    }

    @Override
    public void serialize(JsonGenerator json, SerializerProvider provider) throws IOException {
      json.writeNumber(text);
    }

    @Override
    public String asText() {
      return text;
    }

    @Override
    public JsonToken asToken() {
      return value.asToken();
    }

    @Override
    public JsonParser.NumberType numberType() {
      return value.numberType();
    }

    @Override
    public Number numberValue() {
      return value.numberValue();
    }

    @Override
    public boolean isIntegralNumber() {
      return value.isIntegralNumber();
    }

    @Override
    public boolean isFloatingPointNumber() {
      return value.isFloatingPointNumber();
    }

    @Override
    public boolean isInt() {
      return value.isInt();
    }

    @Override
    public boolean isDouble() {
      return value.isDouble();
    }

    @Override
    public boolean isNaN() {
      return value.isNaN();
    }

    @Override
    public boolean canConvertToInt() {
      return value.canConvertToInt();
    }

    @Override
    public boolean canConvertToLong() {
      return value.canConvertToLong();
    }

    @Override
    public boolean canConvertToExactIntegral() {
      return value.canConvertToExactIntegral();
    }

    @Override
    public int intValue() {
      return value.intValue();
    }

    @Override
    public long longValue() {
      return value.longValue();
    }

    @Override
    public double doubleValue() {
      return value.doubleValue();
    }

    @Override
    public BigDecimal decimalValue() {
      return value.decimalValue();
    }

    @Override
    public BigInteger bigIntegerValue() {
      return value.bigIntegerValue();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Written written && text.equals(written.text);
    }

    @Override
    public int hashCode() {
      return text.hashCode();
    }
  }
}
