package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Formulas, colours in code, and tables in replies. */
class ConsoleNotationTest extends ChatPageFixture {

  private void show(String reply) {
    ask("Show").say(reply).end("stop");
    awaitIdle();
  }

  @Test
  void formulasBetweenDollarsAndBackslashesAreSetAsMathematics() {
    show(
        """
        Einstein: $E = mc^2$, and \\(a_1 * b_2 * c\\).

        $$
        \\int_0^1 x^2 \\, dx = \\frac{1}{3}
        $$

        \\[ \\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix} \\color{red}{x} \\]

        - item $\\sqrt{2}$
        """);
    page.await("document.querySelectorAll('.reply .formula math').length === 5");
    assertThat(page.count(".reply .formula.display math[display=block]")).isEqualTo(2);
    assertThat(page.count(".reply .formula mtable mtr")).isEqualTo(2);
    assertThat(page.count(".reply .text em")).isZero();
  }

  @Test
  void pricesAreNotFormulasAndOneThatCannotBeReadStaysText() {
    show("It costs $5 and $10, or US$5,$6. Broken: $\\frac{1}$, code `$x$`, half \\(a.");
    page.awaitText("It costs $5 and $10, or US$5,$6.");
    page.awaitText("Broken: $\\frac{1}$, code $x$");
    assertThat(page.count(".reply math")).isZero();
  }

  @Test
  void codeOfAKnownLanguageHasColoursAndKeepsItsText() {
    String code = "const a = \"<b>&amp;</b>\"; // it's";
    show("```js\n" + code + "\n```\n\n```unknown\nlet it be\n```\n");
    page.await("document.querySelector('.reply pre .hljs-keyword')");
    assertThat(page.text(".reply pre code")).isEqualTo(code);
    assertThat(page.count(".reply pre b")).isZero();
    assertThat(page.count("figure:nth-of-type(2) .hljs-keyword")).isZero();
    for (String scheme : new String[] {"light", "dark"}) {
      page.prefers(scheme);
      assertThat(page.accessibilityViolations()).as(scheme).isEmpty();
    }
  }

  @Test
  void aTableOnAPhoneScrollsAndBreaksNoWord() {
    page.viewport(360, 740);
    show(
        "| model | tokens/s | remark | another |\n|---|---|---|---|\n| "
            + "word ".repeat(12)
            + "| 1,234 | supercalifragilistic | d |\n");
    page.await("document.querySelector('.reply td')");
    assertThat(page.eval("document.documentElement.scrollWidth").asInt()).isEqualTo(360);
    assertThat(
            page.eval(
                    "(() => { const t = document.querySelector('.reply .table'); return"
                        + " t.scrollWidth > t.clientWidth; })()")
                .asBoolean())
        .isTrue();
    assertThat(page.text("#served")).isEqualTo("sim");
  }
}
