package io.radixflow.text.pretokenizer;

import io.radixflow.models.ModelFormatException;
import io.radixflow.text.regex.RegexDialect;
import io.radixflow.text.regex.RegexException;
import io.radixflow.text.regex.RegexParser;
import java.util.function.UnaryOperator;

/**
 * A regular expression of a model's tokenizer, in the syntax of Oniguruma as far as tokenizers use
 * it. Matching backtracks, within a number of steps that the text's length bounds, and has the
 * classes of Unicode 16.0 whatever the JDK. Immutable; thread-safe.
 */
public final class SplitPattern {

  private static final int LONGEST = 1 << 16;

  private final SplitNode start;

  private SplitPattern(SplitNode start) {
    this.start = start;
  }

  /**
   * Reads a pattern.
   *
   * @throws ModelFormatException if it is wrong, or uses syntax that is not supported; the message
   *     names that syntax
   */
  public static SplitPattern compile(String regex) {
    String shown = regex.length() > 200 ? regex.substring(0, 200) + "…" : regex;
    String pattern = "pre-tokenizer pattern '" + shown + "': ";
    if (regex.length() > LONGEST) {
      throw new ModelFormatException(pattern + "more than " + LONGEST + " characters");
    }
    try {
      SplitBuilder builder = new SplitBuilder();
      return new SplitPattern(
          RegexParser.parse(regex, RegexDialect.ONIGURUMA, "", builder).start());
    } catch (RegexException | ModelFormatException e) {
      throw new ModelFormatException(pattern + e.getMessage());
    }
  }

  /** The pattern of a text that stands for itself. */
  public static SplitPattern literal(String text) {
    return new SplitPattern(new SplitBuilder().text(text).start());
  }

  /** Returns a function that replaces each match in a text; the replacement is taken literally. */
  public UnaryOperator<String> replacer(String replacement) {
    return text -> {
      StringBuilder out = new StringBuilder(text.length());
      Matcher matcher = matcher(text.toCharArray(), 0, text.length());
      int start = 0;
      while (matcher.find()) {
        out.append(text, start, matcher.begin()).append(replacement);
        start = matcher.end();
      }
      return out.append(text, start, text.length()).toString();
    };
  }

  /** Looks for matches from left to right. */
  Matcher matcher(char[] text, int from, int to) {
    return new Matcher(new SplitNode.Input(text, from, to));
  }

  /** The matches in one text. */
  final class Matcher {
    private final SplitNode.Input in;
    private int begin;
    private int end;
    private int next;

    private Matcher(SplitNode.Input in) {
      this.in = in;
      next = in.from;
      end = in.from;
    }

    /**
     * Finds the next match. An empty match is skipped at the beginning of the text and at the end
     * of the previous match.
     */
    boolean find() {
      int at = next;
      while (at < in.to) {
        int found = start.match(in, at);
        if (found > at || found == at && at > end) {
          begin = at;
          end = found;
          next = found > at ? found : at + Character.charCount(in.codePoint(at));
          return true;
        }
        at += Character.charCount(in.codePoint(at));
      }
      return false;
    }

    int begin() {
      return begin;
    }

    int end() {
      return end;
    }
  }
}
