package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PromptPiecesTest {

  @Test
  void specialTokensHaveTheirTextInThePromptAndInItsLogProbabilities() {
    Tokenizer tokenizer = SimModel.open(SimOptions.DEFAULT).tokenizer();
    String special = tokenizer.specials().values().iterator().next();
    String prompt = special + "a" + special + "b";
    int[] ids = tokenizer.encodeWithSpecial(prompt);
    Logprobs logprobs = new Logprobs(tokenizer);
    List<ReplyProgress.TokenLogprob> scores = new ArrayList<>();
    for (int i = 1; i < ids.length; i++) {
      scores.add(new ReplyProgress.TokenLogprob(ids[i], -1, new int[] {ids[0]}, new float[] {-2}));
    }
    TokenOptions options =
        new TokenOptions(null, null, null, null, null, null, null, null, 1, true, null, null);

    PromptTokens shown =
        PromptTokens.joined(PromptPieces.of(ids, options, logprobs.of(scores), logprobs));

    assertThat(ids).hasSize(4);
    assertThat(shown.text()).isEqualTo(prompt);
    assertThat(
            shown.logprobs().stream().map(Reply.TokenLogprob::token).collect(Collectors.joining()))
        .isEqualTo(prompt);
    assertThat(shown.logprobs().get(1).top().get(0).token()).isEqualTo(special);
  }
}
