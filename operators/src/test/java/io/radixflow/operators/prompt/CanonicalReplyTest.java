package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class CanonicalReplyTest {
  private final SimModel model = SimModel.open(SimOptions.DEFAULT);
  private final Tokenizer tokenizer = model.tokenizer();
  private final int end = tokenizer.encodeWithSpecial("<|im_end|>")[0];
  private final CanonicalReply canonical = new CanonicalReply(model);

  private int[] ids(String text, int... more) {
    int[] ids = tokenizer.encode(text);
    int[] all = Arrays.copyOf(ids, ids.length + more.length);
    System.arraycopy(more, 0, all, ids.length, more.length);
    return all;
  }

  @Test
  void aReplyThatEndedItsTurnStaysAsGenerated() {
    assertThat(canonical.ids(ids("yes", end), "yes")).isEqualTo(ids("yes", end));
  }

  @Test
  void anotherEndTokenIsReplacedByTheTemplates() {
    int other = tokenizer.encodeWithSpecial("<|endoftext|>")[0];
    assertThat(canonical.ids(ids("yes", other), "yes")).isEqualTo(ids("yes", end));
  }

  @Test
  void aReplyCutByItsLimitGetsAnEndToken() {
    assertThat(canonical.ids(ids("ye"), "ye")).isEqualTo(ids("ye", end));
  }

  @Test
  void aStopStringThatWasNotShownIsNotKept() {
    assertThat(canonical.ids(ids("yes\nUser:"), "yes")).isEqualTo(ids("yes", end));
  }

  @Test
  void aPartlyGeneratedCharacterIsNotKept() {
    int[] generated = Arrays.copyOf(ids("né"), 2);
    assertThat(canonical.ids(generated, "n")).isEqualTo(ids("n", end));
  }

  @Test
  void textThatTheIdsDoNotSpellIsEncoded() {
    int[] generated = Arrays.copyOf(ids("né"), 2);
    assertThat(canonical.ids(generated, "n\uFFFD")).isEqualTo(ids("n\uFFFD", end));
  }

  @Test
  void anEmptyReplyIsOnlyItsEndToken() {
    assertThat(canonical.ids(new int[0], "")).isEqualTo(new int[] {end});
  }
}
