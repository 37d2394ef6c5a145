package io.radixflow.operators.tier;

import io.radixflow.operators.PublicApi;
import java.util.Locale;

/** When pages of the device are copied to host memory. */
@PublicApi
public enum WritePolicy {
  /** As soon as they are computed: nothing waits for a copy when the device needs room. */
  WRITE_THROUGH(0),
  /** When a second request has used them: fewer copies, and what is used once is lost. */
  WRITE_THROUGH_SELECTIVE(1),
  /** When the device needs their room: the fewest copies, all of them when it matters. */
  WRITE_BACK(Integer.MAX_VALUE);

  private final int uses;

  WritePolicy(int uses) {
    this.uses = uses;
  }

  /** Requests that must have used a page before the one that has it copied while it is cached. */
  int uses() {
    return uses;
  }

  /** Whether a page that leaves the device without a copy is copied then. */
  boolean copiesOnEviction(int usesSoFar) {
    return this != WRITE_THROUGH_SELECTIVE || usesSoFar > uses;
  }

  /** The name in configuration: {@code write_through} … */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
