package io.radixflow.text.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.text.TextModel;
import io.radixflow.text.tokenizer.HostileText;
import io.radixflow.text.tokenizer.TinyVocabulary;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class ChatTemplateProperties {

  private static final TextModel MODEL =
      TextModel.fromGguf(
          TinyVocabulary.get()
              .header("smollm")
              .with(
                  "tokenizer.chat_template",
                  "{% for m in messages %}{{ '<|start|>' + m['role'] + '\\n' + m['content']"
                      + " + '<|end|>' + '\\n' }}{% endfor %}")
              .metadata());

  @Provide
  Arbitrary<String> wellFormed() {
    return HostileText.wellFormed();
  }

  @Property(tries = 500)
  void contentsReachThePromptUnchangedAndWithoutSpecialTokens(
      @ForAll("wellFormed") String first, @ForAll("wellFormed") String second) {
    List<Message> messages = List.of(new Message("user", first), new Message("assistant", second));
    String expected =
        "<|start|>user\n" + first + "<|end|>\n<|start|>assistant\n" + second + "<|end|>\n";
    assertThat(MODEL.chatTemplate().render(messages, false, TemplateOptions.NONE))
        .isEqualTo(expected);
    int[] ids = MODEL.chatTemplate().encode(messages, false, TemplateOptions.NONE);
    assertThat(IntStream.of(ids).filter(id -> MODEL.tokenizer().byteCount(id) == 0).toArray())
        .containsExactly(1, 0, 1, 0);
    assertThat(IntStream.of(ids)).as("<think>").doesNotContain(2);
    assertThat(spelled(ids)).isEqualTo(expected);
  }

  private static String spelled(int[] ids) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int id : ids) {
      bytes.writeBytes(
          id == 0
              ? "<|end|>".getBytes(StandardCharsets.UTF_8)
              : id == 1
                  ? "<|start|>".getBytes(StandardCharsets.UTF_8)
                  : MODEL.tokenizer().bytes(id));
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
