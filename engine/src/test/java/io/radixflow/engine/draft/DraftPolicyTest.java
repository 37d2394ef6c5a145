package io.radixflow.engine.draft;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.draft.SpeculationOptions.Mode;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DraftPolicyTest {
  private final DraftPolicy policy = new DraftPolicy(new SpeculationOptions(Mode.AUTO, 16));

  private static final int[] TEXT = IntStream.range(100, 160).toArray();

  /** A drafter whose reply has repeated the first tokens of its prompt. */
  private static Drafter repeating(DraftPolicy policy, int replyTokens) {
    Drafter drafter = policy.open(64, "");
    drafter.begin(TEXT, TEXT.length, TEXT.length);
    IntStream.of(TEXT).limit(replyTokens).forEach(drafter::append);
    return drafter;
  }

  private void steps(int rows, long micros) {
    for (int i = 0; i < 5; i++) {
      policy.measured(rows, micros * 1000);
    }
  }

  private int choose(Drafter drafter, int running) {
    policy.beginStep(running);
    return policy.choose(drafter, 0, 16);
  }

  @Test
  void nothingIsDraftedBeforeAStepWasMeasured() {
    assertThat(choose(repeating(policy, 20), 1)).isZero();
  }

  @Test
  void draftsGrowWithTheMatch() {
    steps(1, 1000);
    steps(17, 3000);
    int few = choose(repeating(policy, 3), 1);
    int many = choose(repeating(policy, 40), 1);
    assertThat(few).isPositive();
    assertThat(many).isGreaterThan(few);
  }

  @Test
  void draftsGoOnWithTheTextThatIsRepeated() {
    steps(1, 1000);
    steps(17, 1100);
    Drafter drafter = repeating(policy, 20);
    assertThat(choose(drafter, 1)).isEqualTo(16);
    assertThat(IntStream.range(0, 16).map(drafter::token)).containsExactly(copy(20, 36));
  }

  private static Integer[] copy(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> TEXT[i]).toArray(Integer[]::new);
  }

  @Test
  void nothingIsDraftedWhereARowCostsAsMuchAsAStep() {
    steps(1, 1000);
    for (int rows = 2; rows <= 17; rows++) {
      steps(rows, 1000L * rows);
    }
    assertThat(choose(repeating(policy, 40), 1)).isZero();
  }

  @Test
  void nothingIsDraftedWhereTheBatchMakesRowsDear() {
    steps(1, 1000);
    steps(2, 1050);
    for (int rows = 32; rows <= 48; rows++) {
      steps(rows, 1000 + 500L * rows);
    }
    assertThat(choose(repeating(policy, 40), 1)).isPositive();
    assertThat(choose(repeating(policy, 40), 32)).isZero();
  }

  @Test
  void aTextWithoutRepetitionGivesNoDrafts() {
    steps(1, 1000);
    Drafter drafter = policy.open(64, "");
    drafter.begin(TEXT, TEXT.length, TEXT.length);
    assertThat(choose(drafter, 1)).isZero();
  }

  @Test
  void oneTokenThatOccurredBeforeIsFollowedByWhatFollowedIt() {
    steps(1, 1000);
    steps(17, 1010);
    Drafter drafter = repeating(policy, 0);
    drafter.append(5);
    drafter.append(TEXT[20]);
    assertThat(choose(drafter, 1)).isPositive();
    assertThat(drafter.token(0)).isEqualTo(TEXT[21]);
  }

  @Test
  void guessesThatWereWrongEndDrafts() {
    steps(1, 1000);
    steps(17, 6000);
    Drafter drafter = policy.open(64, "");
    int[] pairs = {7, 8, 1, 7, 8, 2, 7, 8, 3, 7, 8};
    drafter.begin(pairs, pairs.length, pairs.length);
    for (int i = 0; i < 60; i++) {
      drafter.append(20 + i);
      drafter.append(7);
      drafter.append(8);
    }
    assertThat(choose(drafter, 1)).isZero();
  }

  @Test
  void aPredictedTextIsDraftedFromItsBeginning() {
    steps(1, 1000);
    steps(17, 1100);
    Drafter drafter = policy.open(64, "");
    drafter.predict(TEXT);
    drafter.begin(new int[] {1, 2, 3}, 3, 3);
    assertThat(choose(drafter, 1)).isEqualTo(16);
    assertThat(drafter.token(0)).isEqualTo(TEXT[0]);
    IntStream.of(TEXT).limit(10).forEach(drafter::append);
    drafter.append(5);
    assertThat(drafter.foretold()).isEqualTo(10);
    assertThat(drafter.predictionTokens()).isEqualTo(TEXT.length);
  }

  @Test
  void aReplyThatGoesOnElsewhereHasTheSameDrafts() {
    steps(1, 1000);
    steps(17, 1100);
    Drafter resumed = policy.open(64, "");
    resumed.predict(TEXT);
    int[] tokens = {1, 2, 3, TEXT[0], TEXT[1], TEXT[2], 9};
    resumed.begin(tokens, tokens.length, 3);
    assertThat(resumed.foretold()).isEqualTo(3);
  }

  @Test
  void slowFirstStepsDoNotCount() {
    StepCosts costs = new StepCosts();
    costs.add(1, 1000);
    costs.add(4, 90_000);
    costs.add(4, 2000);
    costs.add(1, 1000);
    costs.add(1, 1000);
    costs.add(4, 2100);
    assertThat(costs.of(4)).isEqualTo(2000);
    assertThat(costs.of(2)).isBetween(1000.0, 2000.0);
  }
}
