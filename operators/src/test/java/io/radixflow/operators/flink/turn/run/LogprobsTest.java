package io.radixflow.operators.flink.turn.run;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The simulated model's tokens are bytes. */
class LogprobsTest {

  @Test
  void theBytesOfAllTokensTogetherAreTheText() {
    Tokenizer tokenizer = SimModel.open(SimOptions.DEFAULT).tokenizer();
    String text = "a\uD83D\uDE00 \u00e9\uFFFD";
    int[] ids = tokenizer.encode(text);
    List<ReplyProgress.TokenLogprob> given = new ArrayList<>();
    for (int id : ids) {
      given.add(new ReplyProgress.TokenLogprob(id, -1, new int[] {id}, new float[] {-1}));
    }
    ReplyProgress progress =
        new ReplyProgress(
            0, ids, 0, text, given, null, null, -1, Usage.NONE, null, null, null, List.of(), -1);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (Reply.TokenLogprob token : new Logprobs(tokenizer).of(progress.logprobs())) {
      assertThat(token.top().get(0).bytes()).isEqualTo(token.bytes());
      if (token.bytes() == null) {
        bytes.writeBytes(token.token().getBytes(UTF_8));
      } else {
        token.bytes().forEach(bytes::write);
      }
    }
    assertThat(bytes.toString(UTF_8)).isEqualTo(text);
  }

  @Test
  void specialTokensHaveTheirTextAlsoAmongTheAlternatives() {
    Tokenizer tokenizer = SimModel.open(SimOptions.DEFAULT).tokenizer();
    int end = tokenizer.endOfTurnIds()[0];
    String text = tokenizer.specials().get(end);
    Reply.TokenLogprob token =
        new Logprobs(tokenizer)
            .of(
                List.of(
                    new ReplyProgress.TokenLogprob(
                        end, -1, new int[] {end, 'a'}, new float[] {-1, -2})))
            .get(0);
    assertThat(text).isNotEmpty();
    assertThat(token.token()).isEqualTo(text);
    assertThat(token.top()).extracting(Reply.TopLogprob::token).containsExactly(text, "a");
    assertThat(token.top()).extracting(Reply.TopLogprob::bytes).containsOnlyNulls();
  }
}
