package io.radixflow.text.pretokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.ModelFormatException;
import io.radixflow.text.pretokenizer.PatternSplitter.Behavior;
import io.radixflow.text.tokenizer.HostileText;
import java.nio.CharBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The scanners against the regular expressions that they stand for. */
class PreTokenizerProperties {

  private static final String GPT2 =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  private static final String LLAMA3 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  private static final List<String> PATTERNS =
      List.of(
          GPT2,
          LLAMA3,
          "[^\\r"
              + "\\n"
              + "\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}|"
              + " ?[^\\s\\p{L}\\p{N}]+[\\r"
              + "\\n"
              + "/]*|\\s+",
          "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
              + "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
          "[一-龥぀-ゟ゠-ヿ]+",
          "(?:\\p{L}\\p{M}* ?)+",
          "(?:[a-z]{2})*?[0-9&&[^3-5]]|(?>a+)a|x++y|\\p{L}+?(?=e)",
          "(?:ab|a|b){1,4}(?:c|d)?+",
          "\\P{L}{2}[\\u0041-\\u005A\\x{61}]*",
          "^\\p{L}+$|\\A\\p{N}|\\s\\z",
          "(?<=[a-c]{2}|\\p{N})\\p{L}|(?<!\\p{L})[bc]+|\\p{P}(?!\\s)",
          "[a-c\\s-]+|(?i:[sdmt]|ll|ve)+|[[a-f]&&[^c]]{2,3}?");

  @Provide
  Arbitrary<String> wellFormed() {
    return HostileText.wellFormed();
  }

  @Property(tries = 1000)
  void scannersCutWhereThePatternsCut(@ForAll("wellFormed") String text) {
    assertSame("gpt-2", regex(GPT2), text);
    assertSame("llama-bpe", regex(LLAMA3), text);
    assertSame("qwen2", regex(LLAMA3.replace("{1,3}", "")), text);
    assertSame("smollm", regex("\\p{N}").then(regex(GPT2)), text);
  }

  @Property(tries = 1000)
  void patternsMatchAsThoseOfTheJdk(@ForAll("wellFormed") String text) {
    boolean beyondOneChar = text.chars().anyMatch(c -> Character.isSurrogate((char) c));
    for (String pattern : PATTERNS) {
      if (beyondOneChar && pattern.contains("(?<")) {
        continue; // the JDK looks behind by one char, which may be half of a code point
      }
      assertThat(pieces(own(pattern), text)).as(pattern).isEqualTo(pieces(regex(pattern), text));
    }
  }

  @Example
  void aPatternThatBacktracksWithoutEndIsCutShort() {
    String text = "a".repeat(20_000);
    for (String pattern :
        List.of("(?:a|aa)+b", "(?:a+a+)+b", "a*a*a*a*b", "(?:a?){900}b", "(?:a|aa){40}b")) {
      assertThat(String.join("", pieces(own(pattern), text))).isEqualTo(text);
    }
  }

  @Example
  void whatAPatternHasThatIsNotSupportedIsNamed() {
    Map.of(
            "(?<=a+)b", "look-behind",
            "[[:alpha:]]", "POSIX",
            "\\p{Klingon}", "Klingon",
            "(?:a*)*", "may match nothing",
            "a{5,2}", "5,2",
            "(a", "not closed",
            "a)", "unopened",
            "\\1", "\\1",
            "[z-a]", "range",
            "(?:(?:(?:a{2}b){900}){900}){900}", "steps")
        .forEach(
            (pattern, message) ->
                assertThatThrownBy(() -> SplitPattern.compile(pattern))
                    .isInstanceOf(ModelFormatException.class)
                    .hasMessageContaining(message));
  }

  private static void assertSame(String name, PreTokenizer expected, String text) {
    List<String> pieces = pieces(NamedPreTokenizers.of(name), text);
    assertThat(pieces).as(name).isEqualTo(pieces(expected, text));
    assertThat(String.join("", pieces)).isEqualTo(text);
  }

  private static List<String> pieces(PreTokenizer preTokenizer, String text) {
    List<String> pieces = new ArrayList<>();
    char[] padded = ("x" + text + "x").toCharArray();
    preTokenizer.split(
        padded,
        1,
        padded.length - 1,
        (chars, from, to) -> pieces.add(new String(chars, from, to - from)));
    return pieces;
  }

  private static PreTokenizer own(String pattern) {
    return new PatternSplitter(SplitPattern.compile(pattern), Behavior.ISOLATED, false);
  }

  /** Isolates the matches of a pattern of the JDK. */
  private static PreTokenizer regex(String pattern) {
    int lines = Pattern.MULTILINE | Pattern.UNIX_LINES;
    Pattern compiled = Pattern.compile(pattern, Pattern.UNICODE_CHARACTER_CLASS | lines);
    return (text, from, to, sink) -> {
      Matcher matcher = compiled.matcher(CharBuffer.wrap(text, from, to - from));
      int start = from;
      while (matcher.find()) {
        if (from + matcher.start() > start) {
          sink.piece(text, start, from + matcher.start());
        }
        if (matcher.end() > matcher.start()) {
          sink.piece(text, from + matcher.start(), from + matcher.end());
        }
        start = from + matcher.end();
      }
      if (to > start) {
        sink.piece(text, start, to);
      }
    };
  }
}
