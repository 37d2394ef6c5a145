package io.radixflow.engine.schedule;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.request.Request;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests what steps hold, who waits for whom and who makes way, step by step. */
@Timeout(180)
class SchedulerTest {

  private static EngineOptions.Builder options(int pageTokens, int pages) {
    return EngineOptions.builder().pageTokens(pageTokens).kvPages(pages);
  }

  private static ServiceClass priority(int priority) {
    return new ServiceClass("", priority, "");
  }

  /**
   * Case P8: decodes take their rows out of the step's budget, here 64, and what is left is the
   * prefills'. SGLang's second figure, 408 of 625 tokens reserved for what the decodes may yet
   * generate, has no counterpart: a request reserves the pages of its tokens and leaves one page
   * for each running one, and one that grows beyond that puts the youngest back.
   */
  @ParameterizedTest
  @CsvSource({"8, 56, 0", "5, 56, 3", "5, 59, 0"})
  void prefillsShareWhatDecodesLeaveOfAStep(int decodes, int prompt, int left) {
    SchedulerRig rig = new SchedulerRig(options(16, 200).stepRows(64).prefillChunk(64).build());
    for (int i = 0; i < decodes; i++) {
      rig.submit(letters(i, 2), 50);
    }
    rig.step();
    rig.step();
    Request first = rig.submit(letters(9, prompt), 5);
    Request next = rig.submit(letters(10, 200), 5);
    assertThat(rig.step()).isEqualTo(64);
    assertThat(first.steps.computed()).isEqualTo(prompt);
    assertThat(next.steps.computed()).isEqualTo(left);
    assertThat(next.standing.state())
        .isEqualTo(left == 0 ? Request.State.WAITING : Request.State.RUNNING);
  }

  /** Case P10. */
  @Test
  void aPromptThatFitsStepAndPoolIsNotCut() {
    SchedulerRig rig = new SchedulerRig(options(1, 300).stepRows(500).prefillChunk(500).build());
    Request request = rig.submit(letters(0, 200), 5);
    assertThat(rig.step()).isEqualTo(200);
    assertThat(request.steps.isPrefilling()).isFalse();
    assertThat(request.tokens.length()).isEqualTo(201);
  }

  @ParameterizedTest
  @EnumSource
  void theSecondOfTwoWaitsOnceForThePrefixThatTheFirstComputes(SchedulePolicy policy) {
    SchedulerRig rig =
        new SchedulerRig(
            options(16, 200).scheduler(SchedulerOptions.DEFAULT.withPolicy(policy)).build());
    int[] prefix = letters(0, 32);
    Request first = rig.submit(concat(prefix, letters(1, 20)), 5);
    Request second = rig.submit(concat(prefix, letters(2, 20)), 5);
    assertThat(rig.step()).isEqualTo(52);
    assertThat(rig.scheduler.running()).hasSize(1);
    assertThat(rig.scheduler.stats().deferrals()).isOne();
    rig.step();
    assertThat(rig.admitted).containsExactlyInAnyOrder(first, second);
    assertThat(rig.scheduler.cachedTokens()).isEqualTo(32);
    rig.runToTheEnd();
    assertThat(rig.scheduler.stats().deferrals()).isOne();
    assertThat(rig.scheduler.prefilledTokens()).isEqualTo(32 + 2 * 20);
  }

  @Test
  void aShortSharedPrefixIsComputedTwiceRatherThanWaitedFor() {
    SchedulerRig rig = new SchedulerRig(options(16, 200).build());
    int[] prefix = letters(0, 31);
    rig.submit(concat(prefix, letters(1, 20)), 5);
    rig.submit(concat(prefix, letters(2, 20)), 5);
    assertThat(rig.step()).isEqualTo(102);
    assertThat(rig.scheduler.stats().deferrals()).isZero();
  }

  @Test
  void requestsThatWaitForAPrefixAreOvertaken() {
    SchedulerRig rig = new SchedulerRig(options(16, 400).stepRows(64).prefillChunk(32).build());
    int[] prefix = letters(0, 320);
    Request first = rig.submit(concat(prefix, letters(1, 20)), 5);
    List<Request> waiting = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      waiting.add(rig.submit(concat(prefix, letters(i % 20, 20 + i / 20)), 1));
    }
    Request other = rig.submit(letters(19, 20), 5);
    rig.step();
    assertThat(rig.admitted).containsExactly(first, other);
    assertThat(rig.scheduler.stats().deferrals()).isEqualTo(200);
    rig.runToTheEnd();
    assertThat(waiting).allMatch(request -> request.pages.cached() == 0);
    assertThat(rig.scheduler.cachedTokens()).isGreaterThanOrEqualTo(200 * 320);
  }

  @Test
  void aMoreUrgentRequestPreemptsALessUrgentOneForItsPages() {
    SchedulerRig rig = new SchedulerRig(options(16, 20).contextLength(300).build());
    Request low = rig.submit(letters(0, 100), 100, priority(-50));
    Request usual = rig.submit(letters(1, 100), 100, priority(0));
    rig.step();
    Request urgent = rig.submit(letters(2, 150), 20, priority(50));
    rig.step();
    assertThat(rig.scheduler.running()).containsExactly(usual, urgent);
    assertThat(low.standing.state()).isEqualTo(Request.State.WAITING);
    assertThat(rig.scheduler.stats().priorityPreemptions()).isOne();
    rig.runToTheEnd();
    assertThat(rig.scheduler.stats().waitingRequests()).isZero();
    assertThat(low.tokens.length()).isEqualTo(200);
    assertThat(rig.pages.allocator().free() + rig.pages.cache().evictablePages()).isEqualTo(20);
  }

  @Test
  void aMoreUrgentRequestPreemptsALessUrgentOneForItsPermit() {
    SchedulerRig rig = new SchedulerRig(options(16, 200).maxRunning(2).build());
    Request older = rig.submit(letters(0, 30), 100);
    Request younger = rig.submit(letters(1, 30), 100);
    rig.step();
    Request urgent = rig.submit(letters(2, 30), 10, priority(11));
    rig.submit(letters(3, 30), 10, priority(10));
    rig.step();
    assertThat(rig.scheduler.running()).containsExactly(older, urgent);
    assertThat(younger.standing.state()).isEqualTo(Request.State.WAITING);
    assertThat(rig.scheduler.stats().priorityPreemptions()).isOne();
    rig.runToTheEnd();
  }

  @Test
  void pagesThatTheUrgentRequestSharesWithItsVictimAreNotCountedAsGained() {
    SchedulerRig rig = new SchedulerRig(options(16, 16).contextLength(192).build());
    int[] prefix = letters(0, 96);
    Request low = rig.submit(prefix, 20, priority(-50));
    rig.submit(letters(1, 70), 20, priority(50));
    rig.step();
    rig.submit(concat(prefix, letters(2, 95)), 1, priority(50));
    rig.step();
    assertThat(low.standing.state())
        .as("its own page would not suffice")
        .isEqualTo(Request.State.RUNNING);
    rig.runToTheEnd();
    assertThat(rig.scheduler.stats().priorityPreemptions()).isZero();
  }

  @Test
  void whenPagesRunOutTheLeastUrgentIsPreempted() {
    SchedulerRig rig = new SchedulerRig(options(16, 10).contextLength(160).build());
    Request low = rig.submit(letters(0, 30), 100, priority(0));
    Request high = rig.submit(letters(1, 30), 100, priority(10));
    while (rig.scheduler.preemptions() == 0) {
      rig.step();
    }
    assertThat(rig.scheduler.running()).containsExactly(high);
    assertThat(low.standing.state()).isEqualTo(Request.State.WAITING);
    rig.runToTheEnd();
  }

  @Test
  void aFloodOfUrgentRequestsDoesNotStarveAnother() {
    SchedulerRig rig =
        new SchedulerRig(
            options(16, 200)
                .maxRunning(2)
                .scheduler(SchedulerOptions.DEFAULT.withAgeing(4))
                .build());
    Request patient = rig.submit(letters(0, 30), 40, priority(-100));
    for (int i = 1; patient.tokens.length() < patient.tokens.maxLength(); i++) {
      assertThat(i).as("steps").isLessThan(400);
      rig.submit(letters(i % 20, 30), 5, priority(100));
      rig.submit(letters(i % 20, 40), 5, priority(100));
      rig.step();
    }
    assertThat(rig.scheduler.stats().promotions()).isPositive();
    assertThat(rig.scheduler.stats().priorityPreemptions()).isLessThanOrEqualTo(1);
  }
}
