package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JsonTest {

  @Test
  void aLoneSurrogateIsWrittenAsAReplacementCharacter() {
    String lone = "a\uD83D b\uDC00";
    String fixed = "{\"a\uFFFD b\uFFFD\":\"a\uFFFD b\uFFFD\"}";
    assertThat(text(Json.write(Json.object().put(lone, lone)))).isEqualTo(fixed);
    assertThat(text(Json.write(Json.object().put("a", "\uD83D\uDE00").putNull("b"))))
        .isEqualTo("{\"a\":\"\\uD83D\\uDE00\",\"b\":null}");
  }

  @Test
  void aNumberIsKeptAsItWasRead() {
    String body = "{\"a\":[1e400,-0,0.10,{\"b\":1.0}]}";
    assertThat(text(Json.write(Json.read(body.getBytes(StandardCharsets.UTF_8))))).isEqualTo(body);
  }

  private static String text(byte[] utf8) {
    return new String(utf8, StandardCharsets.UTF_8);
  }
}
