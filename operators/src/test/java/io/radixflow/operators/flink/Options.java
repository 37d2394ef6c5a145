package io.radixflow.operators.flink;

import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.TenantNamespaces;
import java.time.Duration;
import java.util.function.Consumer;

/** Serving options for tests that change a few. */
final class Options {
  int maxQueuedPerSession = ServingOptions.DEFAULT.maxQueuedPerSession();
  int maxQueuedPerTenant = ServingOptions.DEFAULT.maxQueuedPerTenant();
  int maxQueuedPerTaskManager = ServingOptions.DEFAULT.maxQueuedPerTaskManager();
  int maxSessionsPerTenant = ServingOptions.DEFAULT.maxSessionsPerTenant();
  int maxSessionsPerTaskManager = ServingOptions.DEFAULT.maxSessionsPerTaskManager();
  int maxTurns = ServingOptions.DEFAULT.maxTurns();
  int maxRunning = ServingOptions.DEFAULT.maxRunning();
  int maxBranches = ServingOptions.DEFAULT.maxBranches();
  ServingOptions.Overflow overflow = ServingOptions.DEFAULT.overflow();
  GenerationOptions defaults = ServingOptions.DEFAULT.defaults();
  Duration retention = ServingOptions.DEFAULT.retention();
  Duration cancelRetention = ServingOptions.DEFAULT.cancelRetention();

  TenantNamespaces namespaces = ServingOptions.DEFAULT.namespaces();

  private Options() {}

  static ServingOptions with(Consumer<Options> change) {
    Options o = new Options();
    change.accept(o);
    return new ServingOptions(
        o.maxQueuedPerSession,
        o.maxQueuedPerTenant,
        o.maxQueuedPerTaskManager,
        o.maxSessionsPerTenant,
        o.maxSessionsPerTaskManager,
        o.maxRunning,
        o.maxBranches,
        o.maxTurns,
        o.overflow,
        o.defaults,
        ServingOptions.DEFAULT.defaultMaxTokens(),
        o.retention,
        o.cancelRetention,
        o.namespaces);
  }
}
