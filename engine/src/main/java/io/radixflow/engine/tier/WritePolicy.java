package io.radixflow.engine.tier;

import io.radixflow.protocol.PublicApi;
import java.util.Locale;

/** When pages of the device are copied to host memory. */
@PublicApi
public enum WritePolicy {
  /** Copies pages when they are computed: no request waits for a copy when the device is full. */
  WRITE_THROUGH(0),
  /** Copies pages that a second request uses: fewer copies; pages used once are lost. */
  WRITE_THROUGH_SELECTIVE(1),
  /** Copies pages when the device evicts them: fewest copies, all of them on the critical path. */
  WRITE_BACK(Integer.MAX_VALUE);

  private final int uses;

  WritePolicy(int uses) {
    this.uses = uses;
  }

  /** Returns how many requests must have used a page before the request that causes its copy. */
  int uses() {
    return uses;
  }

  /**
   * Returns the same for window parts: a page may lose its part long before it leaves the device.
   */
  int windowUses() {
    return this == WRITE_BACK ? 0 : uses;
  }

  /** Returns whether a page without a copy is copied when it leaves the device. */
  boolean copiesOnEviction(int usesSoFar) {
    return this != WRITE_THROUGH_SELECTIVE || usesSoFar > uses;
  }

  /** Returns the name in the configuration: {@code write_through} … */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
