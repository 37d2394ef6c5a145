package io.radixflow.operators.flink.engine;

import io.radixflow.engine.EngineStats;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.protocol.record.control.TierCommand;
import java.util.function.Supplier;
import org.apache.flink.metrics.MetricGroup;

/**
 * The serving operator's interface to the tiers below an engine's device. The default methods are
 * for an engine without tiers ({@link #NONE}). All subtasks that share the engine call it, on any
 * thread. Only {@link #stop} and {@link #close} wait.
 */
public interface EngineTiers extends AutoCloseable {

  /** The tiers of an engine that has only its device. */
  EngineTiers NONE = new EngineTiers() {};

  /** Returns whether there are tiers at all. */
  default boolean enabled() {
    return false;
  }

  // ---- where pages are

  /** Returns the id of the engine's directory on the disk, attached or not; null for none. */
  default String diskId() {
    return null;
  }

  /** Returns the id of the engine's directory on the disk in use; null for none. */
  default String attachedDiskId() {
    return null;
  }

  /** Returns the URI of the folder of the remote tier; null for none. */
  default String remoteFolder() {
    return null;
  }

  // ---- erasing

  /** Returns whether there is a disk with pages, attached or not. */
  default boolean hasDisk() {
    return false;
  }

  /** Runs a task on any thread whenever a disk has been attached. */
  default void onDiskAttached(Runnable task) {}

  /** Removes a task that was given to {@link #onDiskAttached}. */
  default void removeListener(Runnable task) {}

  /** Returns the keys that encrypt pages below host memory. */
  default TenantKeys keys() {
    return new TenantKeys();
  }

  /** Returns the number of a tenant in stores and {@link #keys}. */
  default long tenantTag(String tenant) {
    return 0;
  }

  // ---- control events

  /** Returns the settings of the tiers after all control events so far. */
  default TierSettings settings() {
    return TierSettings.NONE;
  }

  /**
   * Returns why no engine of this configuration can carry out a command; null if the engine may
   * try. Never waits.
   */
  default String refusal(TierCommand command) {
    return "the job has no host memory for pages, which all tiers need;"
        + " start it with tiers.host-memory";
  }

  /**
   * Carries out a command in the background, unless another subtask has done so.
   *
   * @param after the settings after all control events up to this one
   */
  default void apply(TierSettings after, TierCommand command) {}

  /**
   * Adds the gauges of the tiers; the same in all subtasks of an engine.
   *
   * @param stats statistics of the engine
   */
  default void register(MetricGroup group, Supplier<EngineStats> stats) {}

  /** Ignores commands from now on. Called before the engine is closed. */
  default void stop() {}

  /** Releases the tiers' resources outside the engine. Called after the engine is closed. */
  @Override
  default void close() {}
}
