package io.radixflow.cli.state;

import io.radixflow.cli.flink.LoopbackFlink;
import io.radixflow.cli.flink.WebAccess;
import io.radixflow.jobs.config.LocalFiles;
import io.radixflow.operators.flink.state.SavedState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.state.api.OperatorIdentifier;
import org.apache.flink.state.api.SavepointReader;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.ExceptionUtils;

/**
 * A savepoint or a kept checkpoint of the job. Reading one runs a small Flink job in this process;
 * nothing is changed.
 */
public final class Savepoint {
  /** Managed memory of the reading job: RocksDB's write buffers and block cache. */
  private static final MemorySize MANAGED_MEMORY = MemorySize.ofMebiBytes(128);

  private final Path path;
  private final Path temporary;

  /**
   * @param path the savepoint's directory, or the file {@code _metadata} in it
   * @param temporary the directory for a working copy of the state
   * @throws IOException if there is no such savepoint; the message has the remedy
   */
  public Savepoint(Path path, Path temporary) throws IOException {
    Path metadata = Files.isDirectory(path) ? path.resolve(StateMetadata.FILE) : path;
    if (!Files.isRegularFile(metadata)) {
      throw new IOException(
          path
              + " is not a savepoint: it has no file "
              + StateMetadata.FILE
              + "; give the directory that Flink named when it was taken, or chk-N of a"
              + " checkpoint");
    }
    SerialFilter.install();
    try {
      StateMetadata.read(metadata.toAbsolutePath());
    } catch (IOException e) {
      throw new IOException(
          path + " cannot be read as a savepoint of this job: " + e.getMessage(), e);
    }
    this.path = path.toAbsolutePath();
    this.temporary = temporary;
  }

  /** Passes each session to {@code consumer}, in no particular order. */
  public void sessions(Consumer<SavedSession> consumer) throws IOException {
    read(new SessionFigures(), SavedSession.class, SavedSession.NONE::equals, consumer);
  }

  /**
   * Passes one session's messages to {@code consumer} in their order; none if the session does not
   * exist.
   */
  public void conversation(String session, Consumer<SavedMessage> consumer) throws IOException {
    read(new SessionText(session), SavedMessage.class, SavedMessage.NONE::equals, consumer);
  }

  /**
   * Reads all keys.
   *
   * @param function emits at least one record for each key, because Flink treats a key without a
   *     record as the end of the state
   * @param isNone recognises the record of a key that has nothing to emit
   */
  private <T> void read(
      KeyedStateReaderFunction<String, T> function,
      Class<T> type,
      Predicate<T> isNone,
      Consumer<T> consumer)
      throws IOException {
    StreamExecutionEnvironment environment = environment(temporary);
    try (CloseableIterator<T> read =
        SavepointReader.read(environment, LocalFiles.name(path), new EmbeddedRocksDBStateBackend())
            .readKeyedState(
                OperatorIdentifier.forUid(SavedState.OPERATOR_UID),
                function,
                Types.STRING,
                TypeInformation.of(type))
            .executeAndCollect()) {
      while (read.hasNext()) {
        T record = read.next();
        if (!isNone.test(record)) {
          consumer.accept(record);
        }
      }
    } catch (Exception e) { // a file that only looks like a savepoint may cause any exception
      ExceptionUtils.rethrowIfFatalErrorOrOOM(e);
      throw new IOException(
          path + " cannot be read as a savepoint of this job: " + rootMessage(e), e);
    }
  }

  private static String rootMessage(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
  }

  /** Returns an environment with one slot in this process, which listens on loopback only. */
  static StreamExecutionEnvironment environment(Path temporary) {
    Configuration flink = Configuration.fromMap(LoopbackFlink.web(WebAccess.NO_SUBMISSION));
    flink.set(RestOptions.BIND_PORT, "0");
    flink.set(CoreOptions.TMP_DIRS, temporary.toString());
    flink.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MANAGED_MEMORY);
    return StreamExecutionEnvironment.createLocalEnvironment(1, flink);
  }
}
