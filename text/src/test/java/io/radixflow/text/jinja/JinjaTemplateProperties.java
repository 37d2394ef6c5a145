package io.radixflow.text.jinja;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.text.jinja.value.JinjaException;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class JinjaTemplateProperties {
  private static final LocalDateTime NOW = LocalDateTime.of(2026, 1, 5, 0, 0);

  @Provide
  Arbitrary<String> templates() {
    return Arbitraries.of(
            "{{ ",
            " }}",
            "{% ",
            " %}",
            "{%- ",
            " -%}",
            "{# ",
            " #}",
            "for ",
            " in ",
            "endfor",
            "if ",
            "else",
            "elif ",
            "endif",
            "set ",
            "endset",
            "macro m(a)",
            "endmacro",
            "m(",
            "call ",
            "endcall",
            "x",
            "a",
            " = ",
            "'",
            "\"",
            "\\",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ",",
            ":",
            ".",
            " | ",
            "upper",
            "join",
            "tojson",
            "sort",
            "map('",
            " is ",
            "defined",
            "not ",
            " and ",
            " + ",
            " * ",
            " ** ",
            " ~ ",
            " // ",
            " % ",
            "99999999999",
            "1.5",
            "-1",
            "none",
            "loop",
            "loop(",
            "range(",
            "namespace(",
            "raw",
            "endraw",
            "\n",
            "  ",
            "é🌍",
            "\u0000",
            "break",
            "continue")
        .list()
        .ofMaxSize(30)
        .map(parts -> String.join("", parts));
  }

  @Property(tries = 3000)
  void anyTemplateEndsInATextOrItsOwnKindOfError(@ForAll("templates") String template) {
    try {
      String text =
          JinjaTemplate.parse(template).render(Map.of("x", List.of(1, "a"), "a", Map.of()), NOW);
      assertThat(text).isNotNull();
    } catch (JinjaException e) {
      assertThat(e.getMessage()).isNotBlank();
    }
  }

  @Property(tries = 1000)
  void textWithoutBracesIsKeptAndContentsAreNeverInterpreted(@ForAll String content) {
    String text =
        JinjaTemplate.parse("<{{ x }}>{{ x | tojson | length > 0 }}")
            .render(Map.of("x", content), NOW);
    assertThat(text).isEqualTo("<" + content + ">True");
  }

  @Property(tries = 500)
  void slicesOfListsAndTextsAgree(
      @ForAll("bounds") String start,
      @ForAll("bounds") String stop,
      @ForAll("bounds") String step) {
    String slice = "[" + start + ":" + stop + (step.equals("0") ? "" : ":" + step) + "]";
    String template = "{{ 'a🌍cde'" + slice + " }}|{{ ('a🌍cde' | list)" + slice + " | join }}";
    String[] both = JinjaTemplate.parse(template).render(Map.of(), NOW).split("\\|", -1);
    assertThat(both[0]).isEqualTo(both[1]);
  }

  @Provide
  Arbitrary<String> bounds() {
    return Arbitraries.of("", "0", "1", "2", "4", "5", "9", "-1", "-2", "-5", "-9");
  }
}
