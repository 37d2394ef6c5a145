package io.radixflow.protocol.record;

import java.util.Objects;

/**
 * The scheduling attributes of a request.
 *
 * @param tenant the tenant whose share of the engine the request uses; empty for the default tenant
 * @param priority rank among the requests of its tenant, {@link #MIN_PRIORITY} to {@link
 *     #MAX_PRIORITY}; the default is 0
 * @param routingKey requests with the same key run together under the schedule policy {@code
 *     routing-key}; may be empty
 */
public record ServiceClass(String tenant, int priority, String routingKey) {
  public static final int MIN_PRIORITY = -100;
  public static final int MAX_PRIORITY = 100;

  /** The default tenant with the default priority. */
  public static final ServiceClass DEFAULT = new ServiceClass("", 0, "");

  public ServiceClass {
    Objects.requireNonNull(tenant, "tenant");
    Objects.requireNonNull(routingKey, "routingKey");
    checkPriority(priority);
  }

  /**
   * @throws IllegalArgumentException if a priority is out of range
   */
  public static void checkPriority(int priority) {
    if (priority < MIN_PRIORITY || priority > MAX_PRIORITY) {
      throw new IllegalArgumentException(
          "priority is " + priority + "; it must be " + MIN_PRIORITY + " to " + MAX_PRIORITY);
    }
  }
}
