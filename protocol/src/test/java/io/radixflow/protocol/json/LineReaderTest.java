package io.radixflow.protocol.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class LineReaderTest {
  private static LineReader reader(String text, int maxBytes) {
    return new LineReader(
        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), maxBytes);
  }

  @Test
  void theLastLineNeedsNoEnd() throws IOException {
    LineReader lines = reader("a\n\nb", 10);

    assertThat(lines.next()).asString().isEqualTo("a");
    assertThat(lines.next()).isEmpty();
    assertThat(lines.next()).asString().isEqualTo("b");
    assertThat(lines.next()).isNull();
  }

  @Test
  void aLineThatIsTooLongIsRefusedAndTheNextIsRead() throws IOException {
    LineReader lines = reader("x".repeat(11) + "\nb\n", 10);

    assertThatThrownBy(lines::next)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("11 bytes");
    assertThat(lines.next()).asString().isEqualTo("b");
  }

  @Test
  void aCarriageReturnWithinALineStays() throws IOException {
    assertThat(reader("a\rb\r\n", 10).next()).asString().isEqualTo("a\rb");
  }
}
