package io.radixflow.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplyTextTest {

  @Test
  void aCharacterAppearsWithItsLastByte() {
    ReplyText reply = reply(List.of(), "f09f", "9880", "41");
    assertThat(reply.accept(0)).isFalse();
    assertThat(reply.hasNew()).isFalse();
    reply.accept(1);
    assertThat(reply.take()).isEqualTo("😀");
    reply.accept(2);
    assertThat(reply.taken()).isEqualTo(1);
    assertThat(reply.take()).isEqualTo("A");
  }

  @Test
  void anUnfinishedCharacterIsReplacedAtTheEnd() {
    ReplyText reply = reply(List.of(), "41f09f");
    reply.accept(0);
    assertThat(reply.text()).isEqualTo("A");
    reply.finish();
    assertThat(reply.text()).isEqualTo("A\uFFFD");
  }

  @ParameterizedTest
  @CsvSource({
    "c3, 1",
    "c341, 1A",
    "80, 1",
    "c0af, 11",
    "e080af, 111",
    "eda080, 111",
    "f0808080, 1111",
    "f4908080, 1111",
    "f8a8, 11",
    "e282, 1",
    "e28241, 1A",
    "f09f98, 1",
    "e2e282ac, 1€"
  })
  void illFormedBytesAreReplacedByMaximalSubparts(String hex, String text) {
    ReplyText reply = reply(List.of(), hex);
    reply.accept(0);
    reply.finish();
    assertThat(reply.text()).isEqualTo(text.replace('1', '\uFFFD'));
  }

  @Test
  void aStopThatSpansTokensIsHeldBackAndCutOff() {
    ReplyText reply = reply(List.of("END", "X"), hex("go EN"), hex("D of"), hex("more"));
    reply.accept(0);
    assertThat(reply.take()).isEqualTo("go ");
    assertThat(reply.accept(1)).isTrue();
    assertThat(reply.hasNew()).isFalse();
    reply.accept(2);
    reply.finish();
    assertThat(reply.text()).isEqualTo("go ");
    assertThat(reply.stop()).isEqualTo("END");
  }

  @Test
  void heldTextIsReleasedWhenItTurnsOutOtherwise() {
    ReplyText reply = reply(List.of("END"), hex("EN"), hex("TER"));
    reply.accept(0);
    assertThat(reply.hasNew()).isFalse();
    reply.accept(1);
    assertThat(reply.take()).isEqualTo("ENTER");
  }

  @Test
  void heldTextIsReleasedAtTheEnd() {
    ReplyText reply = reply(List.of("END"), hex("the EN"));
    reply.accept(0);
    reply.finish();
    assertThat(reply.text()).isEqualTo("the EN");
    assertThat(reply.stop()).isNull();
  }

  @Test
  void theStopThatIsCompleteFirstWins() {
    ReplyText reply = reply(List.of("xaby", "ab"), hex("xaby"));
    assertThat(reply.accept(0)).isTrue();
    assertThat(reply.text()).isEqualTo("x");
    assertThat(reply.stop()).isEqualTo("ab");
  }

  @Test
  void anEmptyStopIsRefused() {
    assertThatThrownBy(() -> reply(List.of("")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("empty");
  }

  private static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
  }

  private static ReplyText reply(List<String> stops, String... hexTokens) {
    List<byte[]> tokens = Arrays.stream(hexTokens).map(HexFormat.of()::parseHex).toList();
    return new ReplyText(new Bytes(tokens, false), stops);
  }
}
