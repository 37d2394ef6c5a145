package io.radixflow.text.jinja.builtin;

import static io.radixflow.text.jinja.value.Arguments.or;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Markup;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.PythonText;
import io.radixflow.text.jinja.value.Tuple;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Filters of texts. */
final class TextFilters {

  private TextFilters() {}

  static void register(Map<String, Invocable> filters) {
    plain(filters, "upper", LetterCase::upper);
    plain(filters, "lower", LetterCase::lower);
    plain(filters, "capitalize", LetterCase::capitalized);
    plain(filters, "title", TextFilters::title);
    filters.put("string", TextFilters::string);
    filters.put("trim", TextFilters::trim);
    filters.put("replace", TextFilters::replace);
    filters.put("center", TextFilters::center);
    filters.put("indent", TextFilters::indent);
    filters.put("truncate", TextFilters::truncate);
    filters.put("wordcount", TextFilters::wordCount);
    filters.put("format", TextFilters::format);
  }

  private static void plain(
      Map<String, Invocable> filters, String name, UnaryOperator<String> change) {
    filters.put(
        name,
        (budget, a) -> {
          String text = Printing.str(budget, a.bind(name, 1, "s")[0]);
          budget.chars(3L * text.length());
          return change.apply(text);
        });
  }

  private static Object string(Budget budget, Arguments a) {
    Object value = a.bind("string", 1, "object")[0];
    return value instanceof Markup ? value : Printing.str(budget, value);
  }

  /** Capitalises words that follow white space, a hyphen or an opening bracket. */
  private static String title(String text) {
    StringBuilder out = new StringBuilder(text.length());
    int from = 0;
    for (int i = 0; i <= text.length(); i++) {
      boolean separator =
          i < text.length()
              && ("-({[<".indexOf(text.charAt(i)) >= 0 || PythonText.isSpace(text.charAt(i)));
      if (i == text.length() || separator) {
        String word = text.substring(from, i);
        if (!word.isEmpty()) {
          int first = Character.charCount(word.codePointAt(0));
          out.append(LetterCase.upper(word.substring(0, first)));
          out.append(LetterCase.lower(word.substring(first)));
        }
        from = i + 1;
        out.append(separator ? text.substring(i, i + 1) : "");
      }
    }
    return out.toString();
  }

  private static Object trim(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("trim", 1, "value", "chars");
    String text = Printing.str(budget, a[0]);
    Object characters = or(a[1], null);
    budget.chars(text.length());
    return PythonText.strip(
        text, characters == null ? null : StringMethods.text("trim", characters), true, true);
  }

  private static Object replace(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("replace", 3, "s", "old", "new", "count");
    Object count = or(a[3], null);
    return StringMethods.replace(
        budget,
        Printing.str(budget, a[0]),
        Printing.str(budget, a[1]),
        Printing.str(budget, a[2]),
        count == null ? -1 : Numbers.index(count));
  }

  private static Object center(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("center", 1, "value", "width");
    String text = Printing.str(budget, a[0]);
    int width = Numbers.index(or(a[1], 80L));
    int room = Math.max(0, width - Values.length(text));
    budget.chars((long) room + text.length());
    int left = room / 2 + (room & width & 1);
    return " ".repeat(left) + text + " ".repeat(room - left);
  }

  private static Object indent(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("indent", 1, "s", "width", "first", "blank");
    if (a[0] instanceof Undefined undefined) {
      throw undefined.failure();
    }
    String text = StringMethods.text("indent", a[0]) + "\n";
    boolean blank = Values.truth(or(a[3], false));
    Object width = or(a[1], 4L);
    String by;
    if (Values.isText(width)) {
      by = Values.text(width);
    } else {
      int count = Math.max(0, Numbers.index(width));
      budget.chars(count);
      by = " ".repeat(count);
    }
    StringBuilder out = new StringBuilder(Values.truth(or(a[2], false)) ? by : "");
    List<Object> lines = StringSplitting.lines(budget, text, false);
    for (int i = 0; i < lines.size(); i++) {
      String line = (String) lines.get(i);
      boolean indented = i > 0 && (blank || !line.isEmpty());
      budget.chars((long) line.length() + (indented ? by.length() : 0) + 1);
      out.append(i > 0 ? "\n" : "").append(indented ? by : "").append(line);
    }
    return out.toString();
  }

  private static Object truncate(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("truncate", 1, "s", "length", "killwords", "end", "leeway");
    Object leewayGiven = or(a[4], null);
    int length = Numbers.index(or(a[1], 255L));
    int leeway = leewayGiven == null ? 5 : Numbers.index(leewayGiven);
    String end = StringMethods.text("truncate", or(a[3], "..."));
    int kept = length - Values.length(end);
    if (kept < 0 || leeway < 0) {
      throw JinjaException.of("AssertionError", "truncate: the length is too small");
    }
    if (Values.length(a[0]) <= (long) length + leeway) {
      return a[0];
    }
    String text = StringMethods.text("truncate", a[0]);
    budget.chars(text.length());
    String cut = PythonText.slice(text, 0, kept);
    int space = Values.truth(or(a[2], false)) ? -1 : cut.lastIndexOf(' ');
    return (space < 0 ? cut : cut.substring(0, space)) + end;
  }

  private static Object wordCount(Budget budget, Arguments arguments) {
    String text = Printing.str(budget, arguments.bind("wordcount", 1, "s")[0]);
    budget.work(1 + text.length() / 8);
    long count = 0;
    boolean inWord = false;
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      boolean word = c == '_' || Character.isLetterOrDigit(c);
      count += word && !inWord ? 1 : 0;
      inWord = word;
    }
    return count;
  }

  private static Object format(Budget budget, Arguments arguments) {
    Arguments values = arguments.from(1);
    if (!values.named().isEmpty()) {
      throw JinjaException.type("the filter format takes no keyword arguments");
    }
    String text = Printing.str(budget, arguments.positional().get(0));
    return TemplateFormats.percent(budget, text, new Tuple(values.positional()));
  }
}
