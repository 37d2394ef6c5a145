package io.radixflow.engine.schedule;

import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.request.Request;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class PromptShareTest {
  private static final long MILLI = 1_000_000;
  private static final long DECODE_ROW = 2 * MILLI;
  private static final long PROMPT_ROW = MILLI;
  private static final int DECODES = 8;
  private static final int PROMPT = 2000;

  @Test
  void aStepOfUnknownCostIsNotBounded() {
    PromptShare share = share(20 * MILLI, 3, 1.6);

    assertThat(share(0, 3, 1.6).rows(8, 0, 1)).isEqualTo(Integer.MAX_VALUE);
    assertThat(share.rows(8, 0, 1)).isEqualTo(Integer.MAX_VALUE);
    assertThat(share.rows(0, 0, 1)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void promptsGetTheTimeThatTheStretchLeavesThem() {
    PromptShare share = share(20 * MILLI, 3, 1.6);
    share.measured(0, 100, 0, 100 * MILLI);

    assertThat(share.rows(8, 0, 1)).isEqualTo(40);
  }

  @Test
  void whereFewRowsCostMuchBesideDecodesPromptsGetFewerOfThem() {
    PromptShare share = share(20 * MILLI, 3, 0);
    measureFewRows(share);

    assertThat(share.rows(8, 0, 1)).isEqualTo(24);
  }

  @Test
  void aPromptThatWouldTakeTooLongGetsMoreRowsThanTheStretchLeavesIt() {
    PromptShare share = share(20 * MILLI, 3, 1.6);
    measureFewRows(share);

    int rows = share.rows(8, 0, 1);
    assertThat(rows).isBetween(50, 60);
    assertThat((20.0 + 64) / rows).isLessThanOrEqualTo(1.7);
  }

  private static PromptShare share(long decodeNanos, double stretch, double slowdown) {
    return new PromptShare(new SchedulerOptions.Sharing(stretch, slowdown), rows -> decodeNanos);
  }

  /** Steps of 20 ms and of a millisecond a row, but 32 rows beside decodes take 60 ms. */
  private static void measureFewRows(PromptShare share) {
    share.measured(0, 100, 0, 100 * MILLI);
    for (int i = 0; i < 200; i++) {
      share.measured(8, 32, 0, 80 * MILLI);
    }
  }

  @Test
  void aStepThatWasHeldUpCountsForLittle() {
    PromptShare share = share(20 * MILLI, 3, 0);
    share.measured(0, 100, 0, 100 * MILLI);
    share.measured(8, 40, 0, 60_000 * MILLI);

    assertThat(share.rows(8, 0, 1)).isBetween(25, 40);
  }

  @Test
  void aPromptAlwaysGoesOn() {
    PromptShare share = share(20 * MILLI, 1.1, 1.6);
    share.measured(0, 1, 0, 1000 * MILLI);

    assertThat(share.rows(8, 0, 1)).isEqualTo(PromptShare.LEAST_ROWS);
  }

  @Test
  void shortStepsAreNotCut() {
    PromptShare share = share(MILLI / 10, 3, 1.6);
    share.measured(0, 100, 0, MILLI);

    assertThat(share.rows(8, 0, 1)).isGreaterThan(400);
  }

  @Test
  void withoutAStretchStepsAreNotBounded() {
    PromptShare share = share(20 * MILLI, 0, 1.6);
    share.measured(0, 100, 0, 100 * MILLI);

    assertThat(share.rows(8, 0, 1)).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void aPromptGetsFewerRowsTheMoreLiesBeforeThem() {
    PromptShare share = share(20 * MILLI, 3, 1.6);
    for (int position = 0; position < 2000; position += 100) {
      share.measured(0, 100, position, 100 * (MILLI + position * 1000L));
    }

    assertThat(share.rows(8, 0, 1)).isBetween(39, 41);
    assertThat(share.rows(8, 1000, 1)).isBetween(19, 21);
    assertThat(share.rows(8, 3000, 1)).isBetween(9, 11);
  }

  @Test
  void promptsThatAreMoreThanTheDecodesGetMoreOfTheSteps() {
    PromptShare share = share(20 * MILLI, 3, 1.6);
    share.measured(0, 100, 0, 100 * MILLI);

    assertThat(share.rows(8, 0, 8)).isEqualTo(40);
    assertThat(share.rows(8, 0, 80)).isGreaterThan(300);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 500})
  void whileALongPromptComesInRepliesGoOnEvenlyAndItsFirstTokenIsNotFarBehind(long positionNanos) {
    double stretch = SchedulerOptions.DEFAULT.sharing().stretch();
    Run idle = new Run(stretch, 0, positionNanos);
    Run busy = new Run(stretch, DECODES, positionNanos);
    Run unbounded = new Run(0, DECODES, positionNanos);

    assertThat(unbounded.longestStep).isGreaterThan(10 * DECODES * DECODE_ROW);
    assertThat(busy.longestStep).isLessThanOrEqualTo(3 * DECODES * DECODE_ROW);
    assertThat(busy.firstToken).isLessThanOrEqualTo((long) (1.6 * idle.firstToken));
    assertThat(busy.rows).isEqualTo(unbounded.rows).isEqualTo(idle.rows);
  }

  /** A prompt that comes to running replies, where each row takes a known time. */
  private static final class Run {
    private final SchedulerRig rig;
    private long longestStep;
    private long firstToken;
    private long rows;

    Run(double stretch, int decodes, long positionNanos) {
      rig =
          new SchedulerRig(
              EngineOptions.builder()
                  .pageTokens(16)
                  .kvPages(1000)
                  .scheduler(
                      SchedulerOptions.DEFAULT.withSharing(
                          stretch, SchedulerOptions.DEFAULT.sharing().slowdown()))
                  .build());
      List<Request> replies = new ArrayList<>();
      for (int i = 0; i < decodes; i++) {
        replies.add(rig.submit(letters(i, 20), 1000));
      }
      for (int i = 0; i < 20; i++) {
        rig.step(DECODE_ROW, PROMPT_ROW, positionNanos);
      }
      Request prompt = rig.submit(letters(20, PROMPT), 5);
      while (prompt.tokens.length() == prompt.tokens.promptLength()) {
        int[] lengths = replies.stream().mapToInt(reply -> reply.tokens.length()).toArray();
        long nanos = rig.step(DECODE_ROW, PROMPT_ROW, positionNanos);
        for (int i = 0; i < lengths.length; i++) {
          assertThat(replies.get(i).tokens.length()).isEqualTo(lengths[i] + 1);
        }
        longestStep = Math.max(longestStep, nanos);
        firstToken += nanos;
      }
      rows = prompt.steps.computed();
    }
  }
}
