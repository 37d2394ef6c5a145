package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineLostException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine that a TaskManager's subtasks share. If its device is lost, the next subtask that asks
 * gets a new engine, once; a device that is lost again ends the process, as its successor may find
 * a working one. Counts what the subtasks have together.
 */
final class SharedEngine implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedEngine.class);

  private final EngineOpener opener;
  private final EngineHome home;
  private final Consumer<Throwable> endProcess;
  private final EngineOpening opening;
  private final TenantCounts turns = new TenantCounts();
  private final TenantCounts sessions = new TenantCounts();
  private ServingEngine engine;
  private boolean reopened;

  /**
   * @param endProcess ends the process for a reason
   */
  SharedEngine(EngineOpener opener, EngineHome home, Consumer<Throwable> endProcess)
      throws Exception {
    this(opener, home, endProcess, new EngineOpening());
  }

  SharedEngine(
      EngineOpener opener, EngineHome home, Consumer<Throwable> endProcess, EngineOpening opening)
      throws Exception {
    this.opener = opener;
    this.home = home;
    this.endProcess = endProcess;
    this.opening = opening;
    engine = opening.open(opener, home);
  }

  /** Turns without a reply. */
  TenantCounts turns() {
    return turns;
  }

  /** Open sessions. */
  TenantCounts sessions() {
    return sessions;
  }

  /** The engine, opened anew if its device was lost. */
  synchronized ServingEngine engine() throws Exception {
    EngineLostException lost = engine.engine().lost();
    if (lost == null) {
      return engine;
    }
    if (reopened) {
      endProcess.accept(lost);
      throw lost;
    }
    reopened = true;
    LOG.error("The engine is opened anew, this once: {}", lost.getMessage());
    TierSettings tiers = engine.tiers().settings();
    engine.close();
    engine = opening.open(opener, home.again(tiers));
    return engine;
  }

  @Override
  public synchronized void close() {
    engine.close();
  }
}
