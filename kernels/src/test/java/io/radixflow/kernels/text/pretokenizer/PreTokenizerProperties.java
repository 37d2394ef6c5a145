package io.radixflow.kernels.text.pretokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.text.tokenizer.HostileText;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitrary;
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

  @Provide
  Arbitrary<String> wellFormed() {
    return HostileText.wellFormed();
  }

  @Property(tries = 3000)
  void scannersCutWhereThePatternsCut(@ForAll("wellFormed") String text) {
    assertSame("gpt-2", regex(GPT2), text);
    assertSame("llama-bpe", regex(LLAMA3), text);
    assertSame("qwen2", regex(LLAMA3.replace("{1,3}", "")), text);
    assertSame("smollm", regex("\\p{N}").then(regex(GPT2)), text);
  }

  private static void assertSame(String name, PreTokenizer expected, String text) {
    List<String> pieces = pieces(PreTokenizers.byName(name), text);
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

  private static PreTokenizer regex(String pattern) {
    return new RegexSplitter(Pattern.compile(pattern, Pattern.UNICODE_CHARACTER_CLASS), true);
  }
}
