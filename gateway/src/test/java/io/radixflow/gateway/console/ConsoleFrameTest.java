package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.gateway.GatewayFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The bar and the theme, which all pages have, in a browser. */
class ConsoleFrameTest {

  @RegisterExtension static final Chromium CHROMIUM = new Chromium();

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private Page open(String path) {
    Page page = CHROMIUM.open();
    page.go(gateway.uri(path));
    return page;
  }

  private static String background(Page page) {
    return page.eval("getComputedStyle(document.body).backgroundColor").asText();
  }

  @Test
  void theBarNamesTheModelAndMarksThePage() {
    Page page = open("/");
    page.await("document.getElementById('served').textContent === 'sim'");
    assertThat(page.text("nav [aria-current]")).isEqualTo("Chat");
    page.go(gateway.uri("/live"));
    assertThat(page.text("nav [aria-current]")).isEqualTo("Live");
  }

  @Test
  void pagesFollowTheSystemsThemeUntilAnotherIsChosenAndKeepThatChoice() {
    Page page = open("/");
    page.prefers("light");
    String light = background(page);
    page.prefers("dark");
    String dark = background(page);
    assertThat(dark).isNotEqualTo(light);
    page.click("#theme");
    assertThat(background(page)).isEqualTo(light);
    page.reload();
    assertThat(background(page)).isEqualTo(light);
  }
}
