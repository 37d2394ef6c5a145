package io.radixflow.operators.flink;

import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Overflow;
import java.time.Duration;
import java.util.function.Consumer;

/** Serving options for tests that change a few. */
final class Options {
  int maxQueuedPerSession = ServingOptions.DEFAULT.limits().maxQueuedPerSession();
  int maxQueuedPerTenant = ServingOptions.DEFAULT.limits().maxQueuedPerTenant();
  int maxQueuedPerTaskManager = ServingOptions.DEFAULT.limits().maxQueuedPerTaskManager();
  int maxSessionsPerTenant = ServingOptions.DEFAULT.limits().maxSessionsPerTenant();
  int maxSessionsPerTaskManager = ServingOptions.DEFAULT.limits().maxSessionsPerTaskManager();
  int maxTurns = ServingOptions.DEFAULT.prompts().maxTurns();
  int maxRunning = ServingOptions.DEFAULT.limits().maxRunning();
  int maxBranches = ServingOptions.DEFAULT.limits().maxBranches();
  Overflow overflow = ServingOptions.DEFAULT.prompts().overflow();
  GenerationOptions defaults = ServingOptions.DEFAULT.defaults();
  Duration retention = ServingOptions.DEFAULT.retention();
  Duration cancelRetention = ServingOptions.DEFAULT.cancelRetention();

  ServingOptions.ModelChange modelChange = ServingOptions.DEFAULT.modelChange();
  TenantNamespaces namespaces = ServingOptions.DEFAULT.namespaces();

  private Options() {}

  static ServingOptions with(Consumer<Options> change) {
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
