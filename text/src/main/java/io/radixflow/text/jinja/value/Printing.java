package io.radixflow.text.jinja.value;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Iterator;
import java.util.List;

/** Python's {@code str} and {@code repr}. */
public final class Printing {
  private final Budget budget;
  private final StringBuilder out = new StringBuilder();

  private Printing(Budget budget) {
    this.budget = budget;
  }

  /** Returns {@code str(value)}. */
  public static String str(Budget budget, Object value) {
    if (value instanceof String text) {
      return text;
    } else if (value instanceof Undefined) {
      return "";
    }
    return value instanceof Markup markup ? markup.text() : repr(budget, value);
  }

  /** Returns {@code repr(value)}. */
  public static String repr(Budget budget, Object value) {
    Printing printing = new Printing(budget);
    printing.print(value);
    return printing.out.toString();
  }

  private void put(String text) {
    budget.chars(text.length());
    out.append(text);
  }

  private void print(Object value) {
    if (value == null) {
      put("None");
    } else if (value instanceof Boolean flag) {
      put(flag ? "True" : "False");
    } else if (value instanceof Double number) {
      put(number(number));
    } else if (value instanceof Number number) {
      put(number.toString());
    } else if (value instanceof String text) {
      put(quoted(budget, text));
    } else if (value instanceof Markup markup) {
      put("Markup(" + quoted(budget, markup.text()) + ")");
    } else if (value instanceof Undefined) {
      put("Undefined");
    } else if (value instanceof List<?> list) {
      printAll("[", list, "]");
    } else if (value instanceof Tuple tuple) {
      printAll("(", tuple.items(), tuple.items().size() == 1 ? ",)" : ")");
    } else if (value instanceof DictView view) {
      printAll("dict_" + view.name() + "([", view.items(), "])");
    } else if (value instanceof Dict dict) {
      printDict(dict);
    } else if (value instanceof HasAttributes || value instanceof Range) {
      put(value.toString());
    } else {
      put("<" + Values.type(value) + " object>");
    }
  }

  private void printAll(String open, List<?> items, String close) {
    budget.enter();
    put(open);
    for (Iterator<?> i = items.iterator(); i.hasNext(); ) {
      print(i.next());
      put(i.hasNext() ? ", " : "");
    }
    put(close);
    budget.leave();
  }

  private void printDict(Dict dict) {
    budget.enter();
    put("{");
    for (Iterator<Object> i = dict.items().iterator(); i.hasNext(); ) {
      Tuple item = (Tuple) i.next();
      print(item.items().get(0));
      put(": ");
      print(item.items().get(1));
      put(i.hasNext() ? ", " : "");
    }
    put("}");
    budget.leave();
  }

  /** Returns the shortest digits that give the same double again. */
  public static String number(double value) {
    if (Double.isNaN(value)) {
      return "nan";
    } else if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    } else if (value == 0) {
      return 1 / value < 0 ? "-0.0" : "0.0";
    }
    BigDecimal exact = new BigDecimal(value);
    BigDecimal shortest = exact;
    // Below the normal range, fewer than 15 digits may identify a double.
    for (int digits = Math.abs(value) < Double.MIN_NORMAL ? 1 : 15; digits <= 17; digits++) {
      shortest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
      if (shortest.doubleValue() == value) {
        break;
      }
    }
    shortest = shortest.stripTrailingZeros();
    String digits = shortest.unscaledValue().abs().toString();
    int exponent = digits.length() - 1 - shortest.scale();
    String sign = value < 0 ? "-" : "";
    if (exponent < -4 || exponent >= 16) {
      String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
      int size = Math.abs(exponent);
      String zero = size < 10 ? "0" : "";
      return sign + digits.charAt(0) + fraction + "e" + (exponent < 0 ? "-" : "+") + zero + size;
    }
    String plain = shortest.toPlainString();
    return plain.indexOf('.') < 0 ? plain + ".0" : plain;
  }

  /** Returns a text in quotes. Characters that cannot be printed are escaped. */
  private static String quoted(Budget budget, String text) {
    budget.chars(text.length() + 2L);
    char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    StringBuilder out = new StringBuilder(text.length() + 2).append(quote);
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      switch (c) {
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\\' -> out.append("\\\\");
        default -> {
          if (c == quote) {
            out.append('\\').append(quote);
          } else if (isPrintable(c)) {
            out.appendCodePoint(c);
          } else {
            out.append(
                String.format(c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c));
          }
        }
      }
    }
    return out.append(quote).toString();
  }

  /** Returns Python's {@code isprintable} for a code point. */
  private static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      case Character.SPACE_SEPARATOR -> c == ' ';
      default -> true;
    };
  }
}
