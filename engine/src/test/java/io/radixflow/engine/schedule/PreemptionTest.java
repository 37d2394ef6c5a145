package io.radixflow.engine.schedule;

import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.RequestStanding;
import io.radixflow.engine.request.Tenant;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who makes way for whom. A request's prompt is as long as what it holds: pages of one token. */
@Timeout(180)
class PreemptionTest {
  private static final Tenant TENANT = new Tenant("", 1);
  private final List<Request> running = new ArrayList<>();

  private static Request request(long sequence, int urgency, int tokens) {
    Request request =
        SchedulerRig.request(sequence, letters(0, tokens), 10, "", ServiceClass.DEFAULT);
    request.standing.join(TENANT, urgency);
    return request;
  }

  private void run(int urgency, int tokens) {
    running.add(request(running.size(), urgency, tokens));
  }

  private int reserved() {
    return running.stream().mapToInt(request -> request.tokens.length()).sum();
  }

  private boolean preempts(Request waiting, int lacking) {
    List<Request> victims =
        new Preemption(0).victims(waiting, running, lacking, victim -> victim.tokens.length());
    running.removeAll(victims);
    return !victims.isEmpty();
  }

  /** Case P6, higher priority values first. */
  @Test
  void theLeastUrgentRequestIsPreempted() {
    run(0, 50);
    run(1, 75);
    run(2, 100);
    assertThat(reserved()).isEqualTo(225);
    assertThat(preempts(request(9, 1, 49), 49)).isTrue();
    assertThat(reserved()).isEqualTo(175);
  }

  /** Case P6, lower priority values first: urgency is the priority's negative. */
  @Test
  void theHighestValueIsPreemptedIfLowOnesGoFirst() {
    run(0, 50);
    run(-1, 75);
    run(-2, 100);
    assertThat(preempts(request(9, -1, 49), 49)).isTrue();
    assertThat(reserved()).isEqualTo(125);
  }

  /** Case P6. */
  @Test
  void requestsOfEqualPriorityAreNotPreempted() {
    run(0, 50);
    run(1, 75);
    run(2, 100);
    assertThat(preempts(request(9, 0, 49), 49)).isFalse();
    assertThat(reserved()).isEqualTo(225);
  }

  /** Case P6. */
  @Test
  void noRequestIsPreemptedIfThatWouldNotBeEnough() {
    run(0, 50);
    run(1, 75);
    run(2, 100);
    assertThat(preempts(request(9, 1, 110), 110)).isFalse();
    assertThat(reserved()).isEqualTo(225);
  }

  /** Case P6. */
  @Test
  void aPreemptedRequestIsNotCountedTwice() {
    run(0, 50);
    run(1, 75);
    run(2, 100);
    assertThat(preempts(request(9, 1, 49), 49)).isTrue();
    assertThat(preempts(request(10, 1, 76), 76)).isFalse();
    assertThat(reserved()).isEqualTo(175);
  }

  /** Case P7; of equals the last to have arrived makes way first. */
  @Test
  void onlyAsManyRequestsArePreemptedAsAreNeeded() {
    running.add(request(0, 0, 50));
    running.add(request(1, -1, 75));
    running.add(request(4, -2, 100));
    running.add(request(3, -2, 125));
    running.add(request(2, -2, 125));
    List<Request> all = List.copyOf(running);
    assertThat(reserved()).isEqualTo(475);
    assertThat(preempts(request(9, 0, 75), 75)).isTrue();
    assertThat(reserved()).isEqualTo(375);
    running.clear();
    running.addAll(all);
    assertThat(preempts(request(9, 0, 200), 200)).isTrue();
    assertThat(reserved()).isEqualTo(250);
  }

  @Test
  void aDifferenceBelowTheThresholdDoesNotPreempt() {
    run(0, 50);
    Preemption preemption = new Preemption(10);
    assertThat(preemption.victims(request(9, 10, 5), running, 5, victim -> 50)).isEmpty();
    assertThat(preemption.victims(request(9, 11, 5), running, 5, victim -> 50)).hasSize(1);
  }

  @Test
  void requestsOfAnotherTenantAreNeverPreempted() {
    run(-100, 50);
    Request other = request(9, 100, 5);
    other.standing.join(new Tenant("other", 1), 100);
    assertThat(preempts(other, 5)).isFalse();
  }

  @Test
  void aRequestAdmittedForItsAgeIsNotPreemptedAndPreemptsNone() {
    run(RequestStanding.AGED, 50);
    assertThat(preempts(request(9, 100, 5), 5)).isFalse();
    running.clear();
    run(0, 50);
    assertThat(preempts(request(9, RequestStanding.AGED, 5), 5)).isFalse();
  }
}
