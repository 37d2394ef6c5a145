package io.radixflow.grammar.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.text.regex.CodePoints;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Expressions for the tokens of JSON, with the white space that may be next to them. */
final class JsonText {
  final Regex open;
  final Regex close;
  final Regex openArray;
  final Regex closeArray;
  private static final int SHORT = 32;

  final Regex comma;
  private final Regex colon;
  private final Regex quote;
  private final RegexPool pool;

  JsonText(RegexPool pool, Whitespace whitespace) {
    this.pool = pool;
    Regex gap =
        whitespace == Whitespace.COMPACT
            ? pool.epsilon
            : pool.repeat(
                pool.chars(CodePoints.of(' ', '\t', '\r', '\n')),
                0,
                whitespace == Whitespace.SHORT ? SHORT : Regex.MANY);
    quote = pool.text("\"");
    open = pool.concat(pool.text("{"), gap);
    close = pool.concat(gap, pool.text("}"));
    openArray = pool.concat(pool.text("["), gap);
    closeArray = pool.concat(gap, pool.text("]"));
    comma = pool.concat(gap, pool.concat(pool.text(","), gap));
    colon = pool.concat(gap, pool.concat(pool.text(":"), gap));
  }

  /** Returns a string whose value is in a language. */
  Regex string(Regex value) {
    return pool.concat(quote, pool.concat(pool.json(value), quote));
  }

  Regex strings(Collection<String> values) {
    return string(pool.texts(values));
  }

  /** Returns a name with its colon. */
  Regex name(Regex value) {
    return pool.concat(string(value), colon);
  }

  /** Returns a value in the schema's spelling. */
  Regex literal(JsonNode value) {
    if (value.isTextual()) {
      return string(pool.text(value.textValue()));
    }
    List<Regex> parts = new ArrayList<>();
    if (value.isArray()) {
      parts.add(openArray);
      for (JsonNode item : value) {
        separate(parts);
        parts.add(literal(item));
      }
      parts.add(closeArray);
    } else if (value.isObject()) {
      parts.add(open);
      value
          .fields()
          .forEachRemaining(
              field -> {
                separate(parts);
                parts.add(name(pool.text(field.getKey())));
                parts.add(literal(field.getValue()));
              });
      parts.add(close);
    } else {
      parts.add(pool.text(value.isNumber() ? number(value.decimalValue()) : value.asText()));
    }
    return pool.concat(parts);
  }

  /** Returns a number without an exponent or unnecessary zeros. */
  String number(BigDecimal value) {
    BigDecimal stripped = value.stripTrailingZeros();
    if (Math.abs((long) stripped.scale()) > Limits.DIGITS) {
      throw GrammarException.tooLarge("a number has more than " + Limits.DIGITS + " digits");
    }
    return stripped.toPlainString();
  }

  private void separate(List<Regex> parts) {
    if (parts.size() > 1) {
      parts.add(comma);
    }
  }
}
