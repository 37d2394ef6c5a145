package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Arguments;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.PythonText;
import io.radixflow.text.jinja.value.Values;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Methods of Python's str that split a text. */
final class StringSplitting {
  private StringSplitting() {}

  static Object split(Budget budget, Arguments arguments, boolean right) {
    Object[] a = arguments.bind("split", 1, "self", "sep", "maxsplit");
    String text = Values.text(a[0]);
    int most = a[2] == Arguments.MISSING ? -1 : Numbers.index(a[2]);
    most = most < 0 ? Integer.MAX_VALUE : most;
    budget.chars(text.length());
    Object separator = Arguments.or(a[1], null);
    if (separator == null) {
      return right ? wordsFromRight(budget, text, most) : words(budget, text, most);
    }
    String by = StringMethods.text("split", separator);
    if (by.isEmpty()) {
      throw JinjaException.value("empty separator");
    }
    return right ? partsFromRight(budget, text, by, most) : parts(budget, text, by, most);
  }

  static List<Object> parts(Budget budget, String text, String by, int most) {
    List<Object> parts = new ArrayList<>();
    int from = 0;
    for (int at = text.indexOf(by); at >= 0 && parts.size() < most; at = text.indexOf(by, from)) {
      budget.items(2);
      parts.add(text.substring(from, at));
      from = at + by.length();
    }
    parts.add(text.substring(from));
    return parts;
  }

  private static List<Object> partsFromRight(Budget budget, String text, String by, int most) {
    List<Object> parts = new ArrayList<>();
    int to = text.length();
    while (parts.size() < most) {
      int at = to < by.length() ? -1 : text.lastIndexOf(by, to - by.length());
      if (at < 0) {
        break;
      }
      budget.items(2);
      parts.add(text.substring(at + by.length(), to));
      to = at;
    }
    parts.add(text.substring(0, to));
    Collections.reverse(parts);
    return parts;
  }

  static List<Object> words(Budget budget, String text, int most) {
    List<Object> words = new ArrayList<>();
    String rest = PythonText.strip(text, null, true, false);
    int from = text.length() - rest.length();
    while (from < text.length()) {
      budget.items(2);
      if (words.size() == most) {
        words.add(PythonText.strip(text.substring(from), null, false, true));
        break;
      }
      int to = from;
      while (to < text.length() && !PythonText.isSpace(text.charAt(to))) {
        to++;
      }
      words.add(text.substring(from, to));
      while (to < text.length() && PythonText.isSpace(text.charAt(to))) {
        to++;
      }
      from = to;
    }
    return words;
  }

  private static List<Object> wordsFromRight(Budget budget, String text, int most) {
    List<Object> words = new ArrayList<>();
    int to = PythonText.strip(text, null, false, true).length();
    while (to > 0) {
      budget.items(2);
      if (words.size() == most) {
        words.add(PythonText.strip(text.substring(0, to), null, true, false));
        break;
      }
      int from = to;
      while (from > 0 && !PythonText.isSpace(text.charAt(from - 1))) {
        from--;
      }
      words.add(text.substring(from, to));
      while (from > 0 && PythonText.isSpace(text.charAt(from - 1))) {
        from--;
      }
      to = from;
    }
    Collections.reverse(words);
    return words;
  }

  static Object splitLines(Budget budget, Arguments arguments) {
    Object[] a = arguments.bind("splitlines", 1, "self", "keepends");
    return lines(budget, Values.text(a[0]), a[1] != Arguments.MISSING && Values.truth(a[1]));
  }

  static List<Object> lines(Budget budget, String text, boolean keepEnds) {
    budget.chars(text.length());
    List<Object> lines = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < text.length(); i++) {
      if (PythonText.endsLine(text.charAt(i))) {
        budget.items(2);
        int end = i;
        if (text.startsWith("\r\n", i)) {
          i++;
        }
        lines.add(text.substring(from, keepEnds ? i + 1 : end));
        from = i + 1;
      }
    }
    if (from < text.length()) {
      lines.add(text.substring(from));
    }
    return lines;
  }
}
