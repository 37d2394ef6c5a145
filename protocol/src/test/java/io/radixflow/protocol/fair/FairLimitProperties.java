package io.radixflow.protocol.fair;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class FairLimitProperties {

  @Example
  void oneTenantAloneGetsHalfAndGivesItBack() {
    FairLimit limit = new FairLimit(10);
    assertThat(limit.take("a", 5)).isTrue();
    assertThat(limit.take("a", 1)).isFalse();
    limit.release("a", 5);
    assertThat(limit.take("b", 10)).as("a first amount need only fit").isTrue();
    assertThat(limit.take("a", 1)).isFalse();
  }

  @Example
  void theOnlyThingOfATenantMayGrowAsFarAsThereIsRoom() {
    FairLimit limit = new FairLimit(10);
    assertThat(limit.take("a", 6, 0)).isTrue();
    assertThat(limit.take("a", 3, 6)).isTrue();
    assertThat(limit.take("a", 1, 0)).as("something else").isFalse();
    assertThat(limit.take("a", 1, 9)).isTrue();
    assertThat(limit.take("b", 1)).isFalse();
  }

  /** Tenants that take all they can leave an equal part for another one. */
  @Property(tries = 100)
  void anotherTenantAlwaysFindsRoom(
      @ForAll @IntRange(min = 1, max = 8) int tenants,
      @ForAll @IntRange(min = 16, max = 10_000) int total,
      @ForAll @IntRange(min = 1, max = 5) int amount) {
    FairLimit limit = new FairLimit(total);
    boolean took = true;
    while (took) {
      took = false;
      for (int i = 0; i < tenants; i++) {
        took |= limit.take("flood " + i, amount);
      }
    }
    int part = total / (tenants + 1) - tenants * amount;
    assertThat(part <= 0 || limit.take("new", part)).isTrue();
  }
}
