package io.radixflow.operators.flink;

import io.radixflow.operators.cache.key.StableHash;
import java.util.Set;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.memory.SharedResources;
import org.apache.flink.util.FatalExitExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A subtask's share of its TaskManager's engine; the only class that knows Flink's registry of
 * shared resources, an internal interface.
 *
 * <p>Subtasks of one job with equal configuration share an engine. Besides each subtask's lease
 * there is one for the job, released with the job's class loader, so that the engine, its weights
 * and its cache stay warm over a task restart. Jobs do not share: their classes differ. With the
 * engine a subtask leases its shares of what all of them count together.
 */
final class EngineLease implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineLease.class);

  private final SharedResources resources;
  private final String key;
  private final Object holder = new Object();
  private final SharedEngine engine;
  private final TenantCounts.Share turns;
  private final TenantCounts.Share sessions;

  private EngineLease(SharedResources resources, String key, EngineOpener opener, EngineHome home)
      throws Exception {
    this.resources = resources;
    this.key = key;
    this.engine =
        resources
            .<SharedEngine>getOrAllocateSharedResource(
                key, holder, size -> new SharedEngine(opener, home, EngineLease::endProcess), 0)
            .resourceHandle();
    this.turns = engine.turns().share();
    this.sessions = engine.sessions().share();
  }

  /**
   * Leases the engine and opens it if no other subtask has.
   *
   * @param restored ids of the engines whose pages the restored checkpoint goes with
   * @param tiers what control events have made of the tiers so far
   */
  static EngineLease acquire(
      Environment environment,
      RuntimeContext context,
      EngineOpener configured,
      Set<String> restored,
      TierSettings tiers)
      throws Exception {
    EngineOpener opener =
        GpuResource.choose(
            configured,
            environment.getTaskManagerInfo().getConfiguration(),
            context.getExternalResourceInfos(GpuResource.NAME));
    SharedResources resources = environment.getSharedResources();
    String name = environment.getJobID() + "-" + StableHash.hex(opener.identity());
    String key = "radixflow-engine-" + name;
    EngineHome home =
        EngineHome.of(environment.getTaskManagerInfo().getTmpWorkingDirectory(), name, restored)
            .with(tiers);
    EngineLease lease = new EngineLease(resources, key, opener, home);
    try {
      keepWarm(resources, key, context, lease.engine);
    } catch (Exception e) {
      lease.close();
      throw e;
    }
    return lease;
  }

  /** The engine, opened anew if its device was lost. */
  ServingEngine engine() throws Exception {
    return engine.engine();
  }

  /** The subtask's share of turns without a reply. */
  TenantCounts.Share turns() {
    return turns;
  }

  /** The subtask's share of open sessions. */
  TenantCounts.Share sessions() {
    return sessions;
  }

  private static void endProcess(Throwable reason) {
    FatalExitExceptionHandler.INSTANCE.uncaughtException(Thread.currentThread(), reason);
  }

  @Override
  public void close() throws Exception {
    turns.close();
    sessions.close();
    resources.release(key, holder, size -> {});
  }

  private static void keepWarm(
      SharedResources resources, String key, RuntimeContext context, SharedEngine engine)
      throws Exception {
    String jobLease = "job lease of " + key;
    resources.getOrAllocateSharedResource(key, jobLease, size -> engine, 0);
    context.registerUserCodeClassLoaderReleaseHookIfAbsent(
        key, () -> release(resources, key, jobLease));
  }

  private static void release(SharedResources resources, String key, String lease) {
    try {
      resources.release(key, lease, size -> {});
    } catch (Exception e) {
      LOG.warn("The engine did not close", e);
    }
  }
}
