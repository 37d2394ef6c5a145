package io.radixflow.operators.engine;

import java.util.Objects;

/**
 * How a request stands among others that wait.
 *
 * @param tenant whose share of the engine it uses; empty for the default tenant
 * @param priority among the requests of its tenant, {@link #MIN_PRIORITY} to {@link #MAX_PRIORITY};
 *     0 is the usual one
 * @param routingKey what it has in common with requests that it should run beside, for {@link
 *     SchedulePolicy#ROUTING_KEY}; may be empty
 */
public record ServiceClass(String tenant, int priority, String routingKey) {
  public static final int MIN_PRIORITY = -100;
  public static final int MAX_PRIORITY = 100;

  /** Of the default tenant, of the usual priority. */
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
          "priority is " + priority + ", must be " + MIN_PRIORITY + " to " + MAX_PRIORITY);
    }
  }
}
