package io.radixflow.lab.drill.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TierTallyTest {

  private static final Kill ALL = new Kill(1_000, Set.of(0), 1);
  private static final Kill NONE = new Kill(1_000, Set.of(), 1);

  @Test
  void tokensAreCountedByWhereTheyCameFrom() {
    TierTally tally = new TierTally(List.of());

    tally.reply(reply(900, 100, 80, new TierUsage(30, 20, 10, 5)));
    tally.reply(reply(900, 50, 0, TierUsage.NONE));

    assertThat(tally.tokens()).isEqualTo(new TierTally.Tokens(70, 20, 30, 20, 10, 0));
  }

  @Test
  void afterAKillOnlyTheAttemptThatTookOverCounts() {
    TierTally tally = new TierTally(List.of(ALL));

    tally.reply(reply(1_000, 100, 80, new TierUsage(0, 1, 1, 5)));
    tally.reply(reply(3_000, 100, 80, new TierUsage(0, 16, 16, 5)));
    tally.reply(reply(2_000, 100, 80, new TierUsage(64, 4, 0, 5)));
    tally.reply(reply(2_000, 100, 80, new TierUsage(0, 0, 8, 5)));

    assertThat(tally.tokens().afterKills()).isEqualTo(12);
  }

  @Test
  void sessionsThatOthersServedDoNotCountAfterAKill() {
    TierTally tally = new TierTally(List.of(NONE));

    tally.reply(reply(2_000, 100, 80, new TierUsage(0, 4, 0, 5)));

    assertThat(tally.tokens().afterKills()).isZero();
  }

  private static Reply reply(long attempt, int prompt, int cached, TierUsage tiers) {
    return Reply.builder("s", "main", "t", EventKind.MESSAGE)
        .attempt(attempt)
        .text("text")
        .usage(new Usage(prompt, cached, 4, tiers))
        .build();
  }
}
