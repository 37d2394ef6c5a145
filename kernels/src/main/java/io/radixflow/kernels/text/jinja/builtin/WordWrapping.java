package io.radixflow.kernels.text.jinja.builtin;

import io.radixflow.kernels.text.jinja.value.Budget;
import io.radixflow.kernels.text.jinja.value.CodePoints;
import io.radixflow.kernels.text.jinja.value.Values;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Breaks lines between words, as Python's textwrap does for one paragraph a line. */
final class WordWrapping {
  private static final Pattern AFTER_HYPHEN =
      Pattern.compile(
          "(?<=[\\w!\"'&.,?][A-Za-z_]-)(?=[A-Za-z_][\\w])|(?<=\\w\\w-)(?=[A-Za-z_]\\w)");

  private final Budget budget;
  private final int width;
  private final boolean breaksWords;
  private final boolean breaksHyphens;

  WordWrapping(Budget budget, int width, boolean breaksWords, boolean breaksHyphens) {
    this.budget = budget;
    this.width = width;
    this.breaksWords = breaksWords;
    this.breaksHyphens = breaksHyphens;
  }

  String wrap(String text, String separator) {
    List<String> lines = new ArrayList<>();
    for (Object line : StringSplitting.lines(budget, text, false)) {
      List<String> wrapped = wrapLine((String) line);
      lines.add(String.join(separator, wrapped));
    }
    long length = 0;
    for (String line : lines) {
      length += line.length() + separator.length();
    }
    budget.chars(length);
    return String.join(separator, lines);
  }

  private List<String> wrapLine(String line) {
    Deque<String> chunks = chunks(line);
    List<String> lines = new ArrayList<>();
    while (!chunks.isEmpty()) {
      StringBuilder current = new StringBuilder();
      int length = 0;
      if (chunks.peek().isBlank() && !lines.isEmpty()) {
        chunks.pop();
      }
      while (!chunks.isEmpty() && length + Values.length(chunks.peek()) <= width) {
        budget.step();
        length += Values.length(chunks.peek());
        current.append(chunks.pop());
      }
      if (!chunks.isEmpty() && Values.length(chunks.peek()) > width) {
        tooLong(chunks, current, length);
      }
      String text = current.toString();
      if (!lines.isEmpty() || !text.isBlank() || !chunks.isEmpty()) {
        text = CodePoints.strip(text, null, false, true);
      }
      if (!text.isEmpty() || current.length() > 0 && chunks.isEmpty() && lines.isEmpty()) {
        budget.items(2);
        lines.add(CodePoints.strip(text, null, false, true));
      }
    }
    lines.removeIf(String::isEmpty);
    return lines;
  }

  private void tooLong(Deque<String> chunks, StringBuilder current, int length) {
    int room = Math.max(1, width - length);
    if (breaksWords) {
      String chunk = chunks.pop();
      budget.chars(chunk.length());
      int end = Math.min(room, Values.length(chunk));
      int hyphen = breaksHyphens ? CodePoints.slice(chunk, 0, end).lastIndexOf('-') : -1;
      if (hyphen > 0 && !chunk.substring(0, hyphen).replace("-", "").isEmpty()) {
        end = chunk.codePointCount(0, hyphen + 1);
      }
      current.append(CodePoints.slice(chunk, 0, end));
      chunks.push(chunk.substring(CodePoints.offset(chunk, end)));
    } else if (current.length() == 0) {
      current.append(chunks.pop());
    }
  }

  private Deque<String> chunks(String line) {
    budget.chars(line.length());
    Deque<String> chunks = new ArrayDeque<>();
    int from = 0;
    for (int i = 1; i <= line.length(); i++) {
      boolean change =
          i == line.length()
              || CodePoints.isSpace(line.charAt(i)) != CodePoints.isSpace(line.charAt(i - 1));
      if (change && i > from) {
        addChunk(chunks, line.substring(from, i));
        from = i;
      }
    }
    return chunks;
  }

  private void addChunk(Deque<String> chunks, String chunk) {
    budget.items(2);
    if (!breaksHyphens || chunk.indexOf('-') < 0) {
      chunks.add(chunk);
      return;
    }
    int from = 0;
    for (Matcher m = AFTER_HYPHEN.matcher(chunk); m.find(); ) {
      budget.items(2);
      chunks.add(chunk.substring(from, m.start()));
      from = m.start();
    }
    chunks.add(chunk.substring(from));
  }
}
