package io.radixflow.lab.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FaultPlanTest {

  @Test
  void aDeckIsDealtOnceInAnOrderThatTheSeedDecides() {
    List<Fault> deck = List.of(Fault.values());

    assertThat(drawn(FaultPlan.of(deck, 1), 100)).containsExactlyInAnyOrderElementsOf(deck);
    assertThat(drawn(FaultPlan.of(deck, 1), 100)).isEqualTo(drawn(FaultPlan.of(deck, 1), 100));
    assertThat(drawn(FaultPlan.of(deck, 1), 100)).isNotEqualTo(drawn(FaultPlan.of(deck, 2), 100));
  }

  @Test
  void decksOfAllKindsFollowEachOtherUntilTheTimeIsOver() {
    AtomicLong now = new AtomicLong(5);
    List<Fault> kinds = DrillOptions.real("model", 1, Optional.empty()).faults();
    FaultPlan plan = FaultPlan.lasting(kinds, Duration.ofNanos(100), 1, now::get);

    assertThat(drawn(plan, 50)).hasSize(50).containsAll(kinds).doesNotContain(Fault.DEADLY_TURN);

    now.set(105);
    assertThat(plan.get()).isNull();
  }

  private static List<Fault> drawn(FaultPlan plan, int most) {
    List<Fault> faults = new ArrayList<>();
    for (Fault fault = plan.get(); fault != null; fault = plan.get()) {
      faults.add(fault);
      if (faults.size() == most) {
        break;
      }
    }
    return faults;
  }
}
