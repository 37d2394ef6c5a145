package io.radixflow.jobs.prose;

import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The sentences of a file: comments, string literals, Markdown. Everything else is masked, so that
 * each character keeps its offset and its line. Code ends a sentence; markup and the plus between
 * two literals do not.
 */
final class ProseText {
  /** Stands for code: no sentence goes across it. */
  private static final char BREAK = '\0';

  /** Stands for names in code font, which are words of a sentence but are not checked. */
  private static final char NAME = '_';

  private static final Pattern JAVA =
      Pattern.compile(
          "/\\*(?s:.*?)\\*/|//[^\n]*|\"\"\"(?s:.*?)\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*+\""
              + "|'(?:[^'\\\\\n]|\\\\.)+'");
  private static final Pattern SCRIPT =
      Pattern.compile(
          "/\\*(?s:.*?)\\*/|(?<![:\\w])//[^\n]*"
              + "|\"(?:[^\"\\\\\n]|\\\\.)*+\"|'(?:[^'\\\\\n]|\\\\.)*+'|`(?:[^`\\\\]|\\\\.)*+`");
  private static final Pattern PYTHON =
      Pattern.compile(
          "\"\"\"(?s:.*?)\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*+\"|'(?:[^'\\\\\n]|\\\\.)*+'|#[^\n]*");
  private static final Pattern SHELL = Pattern.compile("(?m)(?:^|(?<=\\s))#[^\n]*");

  private static final Pattern JOINED = Pattern.compile("\"\\s*\\+\\s*\"|'\\s*\\+\\s*'");
  private static final Pattern COMMENT_LINE = Pattern.compile("(?m)^\\s*(?:/?\\*+/?|//+|#+)");
  private static final Pattern MARKUP =
      Pattern.compile("(?m)<(?:p|li|ul|ol|pre|h\\d)>|</(?:li|ul|ol|pre)>|@\\w+ \\w+|\\\\n");
  private static final Pattern TABLE = Pattern.compile("<pre>(?s:.*?)</pre>");
  private static final Pattern LINE_START = Pattern.compile("(?m)^\\s*\\*");
  private static final Pattern INLINE_TAG = Pattern.compile("\\{@\\w+ ?([^{}]*)}|</?\\w+>");
  private static final Pattern FENCE = Pattern.compile("(?m)^```(?s:.*?)^```|^ {4,}\\S.*$");
  private static final Pattern CODE = Pattern.compile("`[^`\n]*+`");
  private static final Pattern TARGET = Pattern.compile("(?<=])\\([^)\\s]*\\)");
  private static final Pattern BLOCK =
      Pattern.compile("(?m)^\\s*\n|^\\s*(?:[-*]|\\d+\\.) |^#+ |\\|");

  private ProseText() {}

  /** Returns the text of a file with everything masked that is not prose. */
  static String of(String name, String text) {
    String ending = name.substring(name.lastIndexOf('.') + 1);
    return switch (ending) {
      case "md" -> markdown(text);
      case "java" -> comments(JAVA, text);
      case "c", "h", "cu", "cuh", "cpp" -> comments(JAVA, text);
      case "js", "cjs" -> comments(SCRIPT, text);
      case "py" -> comments(PYTHON, text);
      case "json" -> comments(JAVA, text);
      default -> comments(SHELL, text);
    };
  }

  private static String markdown(String text) {
    StringBuilder masked = new StringBuilder(text);
    mask(FENCE, masked, BREAK);
    mask(CODE, masked, NAME);
    mask(TARGET, masked, NAME);
    mask(BLOCK, masked, BREAK);
    return masked.toString();
  }

  private static String comments(Pattern prose, String text) {
    StringBuilder masked = new StringBuilder(text.length());
    Matcher matcher = prose.matcher(text);
    int end = 0;
    while (matcher.find()) {
      String between = text.substring(end, matcher.start());
      String bound =
          text.substring(Math.max(0, end - 1), Math.min(text.length(), matcher.start() + 1));
      boolean joined = JOINED.matcher(bound).matches() || isCommentLine(matcher.group(), between);
      masked.append(joined ? between.replaceAll("[^\n]", " ") : filled(between, BREAK));
      masked.append(unquoted(matcher.group()));
      end = matcher.end();
    }
    masked.append(filled(text.substring(end), BREAK));
    TABLE.matcher(masked.toString()).results().forEach(table -> breakLines(masked, table));
    mask(COMMENT_LINE, masked, ' ');
    mask(MARKUP, masked, BREAK);
    mask(INLINE_TAG, masked, NAME);
    mask(CODE, masked, NAME);
    return masked.toString();
  }

  /** Ends a sentence at each line of a table or drawing. */
  private static void breakLines(StringBuilder text, MatchResult table) {
    Matcher line = LINE_START.matcher(table.group());
    while (line.find()) {
      text.setCharAt(table.start() + line.end() - 1, BREAK);
    }
  }

  /** Returns whether a line comment continues the one of the line before. */
  private static boolean isCommentLine(String found, String between) {
    return (found.startsWith("//") || found.startsWith("#"))
        && between.isBlank()
        && between.indexOf('\n') == between.lastIndexOf('\n');
  }

  private static String unquoted(String found) {
    char first = found.charAt(0);
    return first == '"' || first == '\''
        ? " " + found.substring(1, found.length() - 1).replace('"', ' ') + " "
        : found;
  }

  private static String filled(String text, char with) {
    return text.replaceAll("[^\n]", String.valueOf(with));
  }

  private static void mask(Pattern pattern, StringBuilder text, char with) {
    Matcher matcher = pattern.matcher(text.toString());
    while (matcher.find()) {
      for (int at = matcher.start(); at < matcher.end(); at++) {
        if (text.charAt(at) != '\n') {
          text.setCharAt(at, with);
        }
      }
      if (with == BREAK && matcher.start() < matcher.end()) {
        text.setCharAt(matcher.start(), BREAK);
      }
    }
  }

  /** Returns where the sentence around a match begins. */
  static int sentenceStart(String prose, int at) {
    int start = at;
    while (start > 0 && !isEnd(prose, start - 1)) {
      start--;
    }
    return start;
  }

  /** Returns where the sentence around a match ends. */
  static int sentenceEnd(String prose, int at) {
    int end = at;
    while (end < prose.length() && !isEnd(prose, end)) {
      end++;
    }
    return end;
  }

  private static boolean isEnd(String prose, int at) {
    char here = prose.charAt(at);
    boolean stop = here == '.' || here == '?' || here == '!';
    return here == BREAK
        || stop && (at + 1 == prose.length() || Character.isWhitespace(prose.charAt(at + 1)));
  }
}
