package io.radixflow.operators.session;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.protocol.PublicApi;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Overflow;
import java.io.Serializable;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * Limits, retention, and generation defaults of the serving operator. Control events may change the
 * limits on queued turns and open sessions while the job runs.
 *
 * @param limits how much work is accepted
 * @param prompts limits of prompts
 * @param defaults generation options that neither the event nor the session sets; may be null
 * @param retention how long a session is known after its last event, even if it is closed or erased
 * @param cancelRetention how long a cancel for a turn that has not been seen is kept
 * @param namespaces separate tenants in the cache
 * @param modelChange what happens to replies that another model began
 */
@PublicApi
public record ServingOptions(
    Limits limits,
    Prompts prompts,
    GenerationOptions defaults,
    Duration retention,
    Duration cancelRetention,
    TenantNamespaces namespaces,
    ModelChange modelChange)
    implements Serializable {

  /**
   * Sensible for one TaskManager with a small model; the namespace key is drawn once per process.
   */
  public static final ServingOptions DEFAULT =
      new ServingOptions(
          new Limits(16, 4_096, 16_384, 1_000_000, 1_000_000, 256, 64),
          new Prompts(1_000, Overflow.DROP_OLDEST, Prompts.NO_LIMIT),
          null,
          Duration.ofDays(7),
          Duration.ofMinutes(10),
          new TenantNamespaces(NamespaceKey.random(), Set.of()),
          ModelChange.CONTINUE);

  /**
   * Limits on accepted work. Beyond a limit, turns and sessions are rejected; beyond {@code
   * maxRunning}, turns wait.
   *
   * @param maxQueuedPerSession turns of a session that run or wait
   * @param maxQueuedPerTenant turns of a tenant that run or wait on one TaskManager
   * @param maxQueuedPerTaskManager turns that run or wait in all subtasks of a TaskManager
   * @param maxSessionsPerTenant sessions that a tenant may have open on one TaskManager
   * @param maxSessionsPerTaskManager sessions that the subtasks of a TaskManager may have open
   * @param maxRunning turns that a subtask submits to the engine at the same time; others wait in
   *     keyed state
   * @param maxBranches branches of a session
   */
  public record Limits(
      int maxQueuedPerSession,
      int maxQueuedPerTenant,
      int maxQueuedPerTaskManager,
      int maxSessionsPerTenant,
      int maxSessionsPerTaskManager,
      int maxRunning,
      int maxBranches)
      implements Serializable {

    public Limits {
      requirePositive("maxQueuedPerSession", maxQueuedPerSession);
      requirePositive("maxQueuedPerTenant", maxQueuedPerTenant);
      requirePositive("maxQueuedPerTaskManager", maxQueuedPerTaskManager);
      requirePositive("maxSessionsPerTenant", maxSessionsPerTenant);
      requirePositive("maxSessionsPerTaskManager", maxSessionsPerTaskManager);
      requirePositive("maxRunning", maxRunning);
      requirePositive("maxBranches", maxBranches);
    }
  }

  /**
   * Limits of prompts.
   *
   * @param maxTurns the most turns of a branch; beyond it the oldest turns are dropped or the new
   *     turn is rejected, according to {@code overflow}
   * @param overflow what happens to a conversation that outgrows the context window
   * @param defaultMaxTokens limit on a reply's tokens if neither event nor session has a limit;
   *     {@link #NO_LIMIT} if only the context window limits the reply
   */
  public record Prompts(int maxTurns, Overflow overflow, int defaultMaxTokens)
      implements Serializable {

    /** Lets a reply continue to the end of the context window. */
    public static final int NO_LIMIT = Integer.MAX_VALUE;

    public Prompts {
      requirePositive("maxTurns", maxTurns);
      requirePositive("defaultMaxTokens", defaultMaxTokens);
    }
  }

  /**
   * What happens to an unfinished reply when the job restarts with another model. Whole turns are
   * kept in any case: the new model reads their text.
   */
  public enum ModelChange {
    /**
     * The new model continues its text. If the new model has another tokenizer, the reply starts
     * over.
     */
    CONTINUE,
    /** The new model starts the reply over. */
    RESTART,
    /** The reply ends as if its sender had cancelled it. */
    END
  }

  public ServingOptions {
    requirePositive("retention", retention.toMillis());
    requirePositive("cancelRetention", cancelRetention.toMillis());
    Objects.requireNonNull(namespaces, "namespaces");
    Objects.requireNonNull(modelChange, "modelChange");
  }

  private static void requirePositive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " is " + value + "; it must be positive");
    }
  }
}
