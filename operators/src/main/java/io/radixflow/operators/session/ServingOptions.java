package io.radixflow.operators.session;

import io.radixflow.operators.NamespaceKey;
import io.radixflow.operators.PublicApi;
import io.radixflow.operators.record.GenerationOptions;
import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * Options of the operator that the engine does not decide.
 *
 * @param maxQueuedPerSession turns that a session may have running and waiting, over all branches
 * @param maxQueuedPerTenant turns that a tenant may have running and waiting on one TaskManager
 * @param maxQueuedPerTaskManager turns that the subtasks of a TaskManager may have running and
 *     waiting
 * @param maxSessionsPerTenant sessions that a tenant may have open on one TaskManager
 * @param maxSessionsPerTaskManager sessions that the subtasks of a TaskManager may have open
 * @param maxRunning turns that a subtask hands to the engine at once; the others wait in keyed
 *     state
 * @param maxBranches branches of a session
 * @param maxTurns turns of a branch that its prompts have; beyond it the oldest are dropped, or the
 *     turn is rejected, as {@code overflow} says
 * @param overflow what happens to a conversation that outgrows the context window
 * @param defaults generation options where neither the event nor the session has one; may be null
 * @param defaultMaxTokens limit on a reply's tokens where nobody gives one
 * @param retention how long a session, also a closed or erased one, is known after its last event
 * @param cancelRetention how long a cancel for a turn that has not been seen is kept
 * @param namespaces separate tenants in the cache
 */
@PublicApi
public record ServingOptions(
    int maxQueuedPerSession,
    int maxQueuedPerTenant,
    int maxQueuedPerTaskManager,
    int maxSessionsPerTenant,
    int maxSessionsPerTaskManager,
    int maxRunning,
    int maxBranches,
    int maxTurns,
    Overflow overflow,
    GenerationOptions defaults,
    int defaultMaxTokens,
    Duration retention,
    Duration cancelRetention,
    TenantNamespaces namespaces)
    implements Serializable {

  /** What happens to a conversation that outgrows the context window. */
  public enum Overflow {
    /** Its oldest turns are dropped, down to half the window; the system prompt stays. */
    DROP_OLDEST,
    /** The turn is rejected. */
    REJECT
  }

  /** Sensible for one TaskManager with a small model; the namespace key is drawn once a process. */
  public static final ServingOptions DEFAULT =
      new ServingOptions(
          16,
          4_096,
          16_384,
          1_000_000,
          1_000_000,
          256,
          64,
          1_000,
          Overflow.DROP_OLDEST,
          null,
          512,
          Duration.ofDays(7),
          Duration.ofMinutes(10),
          new TenantNamespaces(NamespaceKey.random(), Set.of()));

  public ServingOptions {
    requirePositive("maxQueuedPerSession", maxQueuedPerSession);
    requirePositive("maxQueuedPerTenant", maxQueuedPerTenant);
    requirePositive("maxQueuedPerTaskManager", maxQueuedPerTaskManager);
    requirePositive("maxSessionsPerTenant", maxSessionsPerTenant);
    requirePositive("maxSessionsPerTaskManager", maxSessionsPerTaskManager);
    requirePositive("maxRunning", maxRunning);
    requirePositive("maxBranches", maxBranches);
    requirePositive("maxTurns", maxTurns);
    requirePositive("defaultMaxTokens", defaultMaxTokens);
    requirePositive("retention", retention.toMillis());
    requirePositive("cancelRetention", cancelRetention.toMillis());
    Objects.requireNonNull(namespaces, "namespaces");
  }

  private static void requirePositive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " is " + value + ", must be positive");
    }
  }
}
