package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class GrammarTextProperties {

  private static final List<String> MARKS = List.of("<ab>", "<a/", "[x]", "<b");

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.strings().withChars("<ab>/[x]\n".toCharArray()).ofMaxLength(12);
  }

  @Property(tries = 5000)
  void matchesTextsWithoutAnyOfTheMarks(@ForAll("texts") String text) {
    assertThat(text.matches(GrammarText.without(MARKS)))
        .isEqualTo(MARKS.stream().noneMatch(text::contains));
  }

  @Example
  void refusesMarksThatBeginWithin() {
    assertThatThrownBy(() -> GrammarText.without(List.of("<a<")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Property
  void canLeaveOutTheMarksOfEachFormatAndItsReasoning(@ForAll ToolFormat format) {
    List<String> marks = new ArrayList<>(format.marks());
    marks.add(format == ToolFormat.MISTRAL ? "[THINK]" : "<think>");
    assertThat("plain <text> [1]\n".matches(GrammarText.without(marks))).isTrue();
    assertThat(("a" + marks.get(0)).matches(GrammarText.without(marks))).isFalse();
  }
}
