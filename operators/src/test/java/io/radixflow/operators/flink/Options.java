package io.radixflow.operators.flink;

import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Overflow;
import java.time.Duration;
import java.util.function.Consumer;

/** Serving options for tests that change a few. */
public final class Options {
  public int maxQueuedPerSession = ServingOptions.DEFAULT.limits().maxQueuedPerSession();
  public int maxQueuedPerTenant = ServingOptions.DEFAULT.limits().maxQueuedPerTenant();
  public int maxQueuedPerTaskManager = ServingOptions.DEFAULT.limits().maxQueuedPerTaskManager();
  public int maxSessionsPerTenant = ServingOptions.DEFAULT.limits().maxSessionsPerTenant();
  public int maxSessionsPerTaskManager =
      ServingOptions.DEFAULT.limits().maxSessionsPerTaskManager();
  public int maxTurns = ServingOptions.DEFAULT.prompts().maxTurns();
  public int maxRunning = ServingOptions.DEFAULT.limits().maxRunning();
  public int maxBranches = ServingOptions.DEFAULT.limits().maxBranches();
  public Overflow overflow = ServingOptions.DEFAULT.prompts().overflow();
  public GenerationOptions defaults = ServingOptions.DEFAULT.defaults();
  public Duration retention = ServingOptions.DEFAULT.retention();
  public Duration cancelRetention = ServingOptions.DEFAULT.cancelRetention();

  public ServingOptions.ModelChange modelChange = ServingOptions.DEFAULT.modelChange();
  public TenantNamespaces namespaces = ServingOptions.DEFAULT.namespaces();

  private Options() {}

  public static ServingOptions with(Consumer<Options> change) {
    Options o = new Options();
    change.accept(o);
    return new ServingOptions(
        new ServingOptions.Limits(
            o.maxQueuedPerSession,
            o.maxQueuedPerTenant,
            o.maxQueuedPerTaskManager,
            o.maxSessionsPerTenant,
            o.maxSessionsPerTaskManager,
            o.maxRunning,
            o.maxBranches),
        new ServingOptions.Prompts(
            o.maxTurns, o.overflow, ServingOptions.DEFAULT.prompts().defaultMaxTokens()),
        o.defaults,
        o.retention,
        o.cancelRetention,
        o.namespaces,
        o.modelChange);
  }
}
