package io.radixflow.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.policy.EvictionPolicies;
import org.junit.jupiter.api.Test;

class CacheSimulationTest {
  private final CacheWorkload.Builder builder = new CacheWorkload.Builder();
  private CacheWorkload built;

  private CacheWorkload workload() {
    built = built == null ? builder.build() : built;
    return built;
  }

  private void request(int session, int... blocks) {
    builder.begin(0, session, 0);
    for (int block : blocks) {
      builder.block(block);
    }
  }

  private CacheSimulation.Result simulate(int capacity, boolean hints) {
    return CacheSimulation.run(
        workload(), capacity, EvictionPolicies.of("lru", capacity, 1), hints);
  }

  @Test
  void aClosedSessionLeavesItsRoomToOthers() {
    request(0, 1, 2, 3);
    request(1, 1, 5, 6);
    builder.close(1);
    request(2, 1, 7, 8);
    request(0, 1, 2, 3, 4);

    assertThat(simulate(5, true)).isEqualTo(new CacheSimulation.Result(1 + 1 + 3, 1, 2));
    assertThat(simulate(5, false)).isEqualTo(new CacheSimulation.Result(1 + 1 + 1, 5, 0));
  }

  @Test
  void aClosedSessionFreesNothingThatOthersShare() {
    request(0, 1, 2);
    request(1, 1, 2, 3);
    request(1, 1, 2, 3, 4);
    request(2, 1, 2, 3, 5);
    builder.close(1);
    request(3, 1, 2, 3, 5);

    assertThat(simulate(100, true)).isEqualTo(new CacheSimulation.Result(2 + 3 + 3 + 4, 0, 1));
  }

  @Test
  void closingAnUnknownOrClosedSessionFreesNothing() {
    request(0, 1, 2);
    builder.close(7);
    builder.close(0);
    builder.close(0);
    request(1, 1, 2);

    assertThat(simulate(100, true)).isEqualTo(new CacheSimulation.Result(0, 0, 2));
  }

  @Test
  void blocksThatDoNotFitAreNotStored() {
    request(0, 1, 2, 3, 4);
    request(0, 1, 2, 3, 4);

    assertThat(simulate(3, true)).isEqualTo(new CacheSimulation.Result(3, 0, 0));
  }

  @Test
  void blocksOfAReplyAreStoredButNoHits() {
    builder.begin(0, 0, 0).block(1).endInput().block(2);
    builder.begin(0, 0, 0).block(1).endInput().block(2);
    request(0, 1, 2, 3);

    assertThat(simulate(10, true).hits()).isEqualTo(1 + 2);
    assertThat(workload().inputBlocks()).isEqualTo(5);
  }

  @Test
  void equalBlocksOfDifferentScopesAreDifferent() {
    builder.begin(0).block(1);
    builder.begin(1).block(1);

    assertThat(simulate(10, true).hits()).isZero();
    assertThat(workload().distinctBlocks()).isEqualTo(2);
  }
}
