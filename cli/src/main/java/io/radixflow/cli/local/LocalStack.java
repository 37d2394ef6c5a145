package io.radixflow.cli.local;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.JobEndpoints;
import io.radixflow.jobs.ServingJob;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.kafka.KafkaSetup;
import io.radixflow.models.io.LockFile;
import io.radixflow.models.io.PrivateDirectories;
import io.radixflow.models.io.ScratchDirectory;
import io.radixflow.operators.flink.engine.EngineFactory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.flink.api.common.JobID;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The job in this process with a Flink cluster and, unless the settings name one, a broker. With a
 * permanent directory, conversations resume after a restart or a crash.
 */
public final class LocalStack implements AutoCloseable {

  private static final Path TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));
  private static final String LOCK = "radixflow.lock";
  private static final String STOPPED = "stopped while it started";
  private static final Logger LOG = LoggerFactory.getLogger(LocalStack.class);

  /** The time limit of the start; loading a large model takes minutes. */
  private static final Duration START_TIMEOUT = Duration.ofMinutes(10);

  /**
   * The least connect timeout, because a broker in this process may answer late on a busy machine.
   */
  private static final Duration LEAST_CONNECT_TIMEOUT = Duration.ofMinutes(1);

  private final Path directory;

  /** The temporary directory if nothing is kept; else null. */
  private final ScratchDirectory scratch;

  /** The lock on a permanent directory; else null. */
  private final LockFile lock;

  private final Consumer<String> progress;
  private volatile boolean stopping;
  private final Thread hook = new Thread(this::shutDown, "stop the stack");
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private Settings settings;
  private LocalBroker broker;
  private LocalCluster cluster;
  private JobID job;
  private JobWatch watch;
  private boolean closed;

  private LocalStack(
      Settings settings,
      Path directory,
      ScratchDirectory scratch,
      LockFile lock,
      Consumer<String> progress) {
    this.settings = settings;
    this.directory = directory;
    this.scratch = scratch;
    this.lock = lock;
    this.progress = progress;
  }

  /**
   * Options of a stack.
   *
   * @param directory where the broker's data and the job's state are kept; empty to keep nothing
   * @param broker whether to start a broker; if not, the settings have the address of one
   * @param brokerPort the broker's port; 0 for any free port
   * @param metricsPort the port of Flink's metrics; 0 for any free port
   */
  public record Options(
      Optional<Path> directory, boolean broker, int brokerPort, int metricsPort) {}

  /**
   * Starts everything and waits until the model is loaded and the job runs. A stack is closed when
   * the process is asked to end, even while the stack starts.
   *
   * @param engines opens the engine
   * @param progress receives one line at each step
   * @throws IOException if a part does not start; the message says which
   * @throws SettingsException if the shared engine has lower limits than its subtasks
   */
  public static LocalStack start(
      Settings settings, Options options, EngineFactory engines, Consumer<String> progress)
      throws IOException {
    ServingSettings.checkWaiting(settings, settings.get(RadixflowOptions.PARALLELISM));
    LocalLimits.require(options.directory().orElse(TEMPORARY));
    ScratchDirectory scratch =
        options.directory().isPresent() ? null : ScratchDirectory.create("local");
    Path directory =
        scratch == null
            ? PrivateDirectories.create(options.directory().get().toAbsolutePath())
            : scratch.path();
    LockFile lock = scratch == null ? lock(directory) : null;
    LocalStack stack = new LocalStack(settings, directory, scratch, lock, progress);
    try {
      Runtime.getRuntime().addShutdownHook(stack.hook);
      if (scratch != null) {
        // a broker that loses its files halts the process immediately
        scratch.deleteOnlyOnClose();
      }
      stack.startAll(options, engines);
      return stack;
    } catch (IOException | RuntimeException | Error e) {
      // a starting part can fail in many ways when the process ends
      IOException stopped = stack.stopping ? new IOException(STOPPED, e) : null;
      try {
        stack.close();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      if (stopped != null) {
        throw stopped;
      }
      throw e;
    }
  }

  /** Locks the directory, because two stacks would damage each other's files. */
  private static LockFile lock(Path directory) throws IOException {
    LockFile lock = LockFile.tryLock(directory.resolve(LOCK));
    if (lock == null) {
      throw new IOException(
          "another process uses "
              + directory
              + ": stop it, or have this one use another directory (--directory)");
    }
    return lock;
  }

  private void startAll(Options options, EngineFactory engines) throws IOException {
    if (options.broker()) {
      progress.accept("a Kafka broker");
      startBroker(options.brokerPort());
    }
    KafkaSetup.check(settings);
    progress.accept("Flink");
    startCluster(options.metricsPort());
    progress.accept("the job");
    startJob(engines);
    cluster.awaitRunning(job, START_TIMEOUT);
    watchJob();
  }

  private synchronized void startBroker(int port) throws IOException {
    requireOpen();
    broker = LocalBroker.start(directory, port);
    settings =
        settings
            .with(KafkaConfig.BOOTSTRAP_SERVERS, broker.bootstrapServers())
            .with(KafkaConfig.CREATE_TOPICS, true);
    if (settings.get(KafkaConfig.CONNECT_TIMEOUT).compareTo(LEAST_CONNECT_TIMEOUT) < 0) {
      settings = settings.with(KafkaConfig.CONNECT_TIMEOUT, LEAST_CONNECT_TIMEOUT);
    }
  }

  private synchronized void startCluster(int metricsPort) throws IOException {
    requireOpen();
    cluster =
        LocalCluster.start(directory, settings.get(RadixflowOptions.PARALLELISM), metricsPort);
  }

  private synchronized void startJob(EngineFactory engines) throws IOException {
    requireOpen();
    StreamExecutionEnvironment environment = ServingJob.environment(settings);
    ServingJob.build(environment, settings, JobEndpoints.kafka(settings), engines);
    Optional<String> kept = new KeptStates(cluster.stateDirectories()).latest();
    // without the conversation index its sink is gone
    job = cluster.submit(environment, kept, !settings.get(SharedConfig.INDEX));
  }

  private synchronized void watchJob() throws IOException {
    requireOpen();
    watch = JobWatch.start(cluster, job, end);
  }

  /**
   * Fails if the stack is closed, because nothing may start in a directory that is being deleted or
   * released.
   */
  private void requireOpen() throws IOException {
    if (closed) {
      throw new IOException(STOPPED);
    }
  }

  /**
   * Returns a future that completes when the stack is closed. It fails with a {@link
   * JobEndedException} as soon as the job has ended by itself and does not restart. The stack must
   * be closed even then.
   */
  public CompletableFuture<Void> end() {
    return end.copy();
  }

  /** Returns the settings, with the address of the broker that was started. */
  public Settings settings() {
    return settings;
  }

  public URI webInterface() {
    return cluster.webInterface();
  }

  /** Returns the address of Flink's metrics for Prometheus. */
  public URI metrics() {
    return cluster.metrics();
  }

  /** Returns the latest completed checkpoints since the start, oldest first, at most ten. */
  public List<CheckpointFigures> checkpoints() throws IOException {
    return cluster.checkpoints(job);
  }

  /** Returns the cluster, for tests that break it. */
  LocalCluster cluster() {
    return cluster;
  }

  JobID job() {
    return job;
  }

  /**
   * Stops the job, keeping its state if the directory is kept, then Flink and the broker.
   * Idempotent, any thread.
   */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    if (watch != null) {
      watch.close();
    }
    try (LockFile held = lock;
        ScratchDirectory files = scratch;
        LocalBroker kafka = broker;
        LocalCluster flink = cluster) {
      stopJob();
    } finally {
      forgetHook();
      end.complete(null);
    }
  }

  private void shutDown() {
    stopping = true;
    progress.accept("stopping");
    try {
      close();
    } catch (IOException | RuntimeException e) {
      LOG.warn("The local stack did not stop cleanly", e);
      progress.accept("did not stop cleanly: " + e.getMessage());
    }
  }

  private void forgetHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shuttingDown) {
      LOG.debug("The local stack was closed while the process ends");
    }
  }

  private void stopJob() throws IOException {
    if (job == null || end.isCompletedExceptionally()) {
      return;
    }
    if (scratch == null) {
      try {
        cluster.stop(job);
        return;
      } catch (IOException e) {
        LOG.warn("Job {} made no savepoint; it will resume from its last checkpoint", job, e);
      }
    }
    cluster.cancel(job);
  }
}
