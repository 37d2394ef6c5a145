package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineLostException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine that a TaskManager's subtasks share. If its device is lost, the next subtask that asks
 * gets a new engine, once; a device that is lost again ends the process, as its successor may find
 * a working one.
 */
final class SharedEngine implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedEngine.class);

  private final EngineOpener opener;
  private final Path crashJournal;
  private final Consumer<Throwable> endProcess;
  private ServingEngine engine;
  private boolean reopened;

  /**
   * @param endProcess ends the process for a reason
   */
  SharedEngine(EngineOpener opener, Path crashJournal, Consumer<Throwable> endProcess)
      throws Exception {
    this.opener = opener;
    this.crashJournal = crashJournal;
    this.endProcess = endProcess;
    engine = opener.open(crashJournal);
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
    engine.close();
    engine = opener.open(crashJournal);
    return engine;
  }

  @Override
  public synchronized void close() {
    engine.close();
  }
}
