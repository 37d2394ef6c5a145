package io.radixflow.cli.cluster;

import io.radixflow.cli.flink.Ports;
import io.radixflow.models.io.PrivateDirectories;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;

/**
 * A Flink session cluster and a broker of real processes on loopback: ZooKeeper, JobManagers,
 * TaskManagers, and Flink's own command line. JobManagers and TaskManagers may be started, killed
 * and suspended at any time.
 *
 * <p>Every Flink process has the layout of a deployment: Flink and the kernels in {@code lib}, the
 * job in its own jar. {@link #close()} kills all processes, and so does the end of this JVM, even
 * by {@code kill -9}. Without a directory to keep, all their files are deleted.
 */
public final class ProcessCluster implements AutoCloseable {

  private static final String ZOOKEEPER =
      "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer";
  private static final String JOB_MANAGER =
      "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
  private static final String TASK_MANAGER =
      "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final int CONNECT_MILLIS = 1000;

  private final ClusterOptions options;
  private final FlinkSettings settings;
  private final FlinkHome home;
  private final Watchdog watchdog;
  private final ProcessLauncher launcher;
  private final FlinkCommandLine commandLine;
  private final ClusterRest rest = new ClusterRest(this::restPorts);
  private final Map<JavaProcess, Integer> restPorts = new LinkedHashMap<>();
  private final int brokerPort;
  private final int zooKeeperPort;
  private boolean closed;

  private ProcessCluster(ClusterJars jars, ClusterOptions options, Path root, Watchdog watchdog)
      throws IOException {
    this.options = options;
    this.zooKeeperPort = Ports.free();
    this.brokerPort = options.brokerPort() == 0 ? Ports.free() : options.brokerPort();
    this.settings = new FlinkSettings(root, zooKeeperPort, options);
    this.home = new FlinkHome(root, jars, settings.all(), zooKeeperPort);
    this.watchdog = watchdog;
    this.launcher = new ProcessLauncher(home, watchdog);
    this.commandLine = new FlinkCommandLine(launcher);
  }

  /**
   * Creates the installation, starts all processes, and waits until broker and slots are available.
   *
   * @param progress receives one line at each step
   * @throws IOException if the directory is in use, or a process does not start; the message has
   *     the output of the process
   */
  public static ProcessCluster start(
      ClusterJars jars, ClusterOptions options, Consumer<String> progress)
      throws IOException, InterruptedException {
    Path root =
        options.directory().isPresent()
            ? emptyDirectory(options.directory().get())
            : Files.createTempDirectory("radixflow-cluster-").toRealPath();
    ProcessCluster cluster = layOut(jars, options, root);
    try {
      cluster.startAll(progress);
      return cluster;
    } catch (IOException | InterruptedException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private static ProcessCluster layOut(ClusterJars jars, ClusterOptions options, Path root)
      throws IOException {
    Watchdog watchdog = null;
    try {
      watchdog = Watchdog.start();
      if (options.directory().isEmpty()) {
        watchdog.delete(root);
      }
      return new ProcessCluster(jars, options, root, watchdog);
    } catch (IOException | RuntimeException e) {
      leave(watchdog, options, root);
      throw e;
    }
  }

  private static void leave(Watchdog watchdog, ClusterOptions options, Path root) {
    if (watchdog != null) {
      watchdog.close();
    }
    if (options.directory().isEmpty()) {
      FileUtils.deleteDirectoryQuietly(root.toFile());
    }
  }

  private static Path emptyDirectory(Path directory) throws IOException {
    Path root = PrivateDirectories.create(directory.toAbsolutePath()).toRealPath();
    try (Stream<Path> files = Files.list(root)) {
      if (files.findAny().isPresent()) {
        throw new IOException(directory + " is not empty; name another directory, or empty it");
      }
    }
    return root;
  }

  private void startAll(Consumer<String> progress) throws IOException, InterruptedException {
    progress.accept("starting ZooKeeper, Kafka and Flink");
    List<JavaProcess> all = new ArrayList<>();
    all.add(
        launcher.flink(
            "zookeeper",
            List.of("-Xmx64m"),
            true,
            ZOOKEEPER,
            List.of("--zkConfigFile", home.zooKeeperConfiguration().toString(), "--peerId", "1")));
    all.add(startBroker());
    awaitListening(all, zooKeeperPort, "ZooKeeper");
    for (int i = 0; i < options.jobManagers(); i++) {
      all.add(startJobManager(Map.of()));
    }
    for (int i = 0; i < options.taskManagers(); i++) {
      all.add(startTaskManager());
    }
    awaitListening(all, brokerPort, "the broker");
    progress.accept("waiting for " + options.taskManagers() + " TaskManagers");
    int slots = options.taskManagers() * options.slots();
    await(all, slots + " slots", () -> rest.slots() >= slots);
  }

  /** Returns the address for Kafka clients; it stays the same when the broker restarts. */
  public String bootstrapServers() {
    return Ports.LOOPBACK + ":" + brokerPort;
  }

  /** Returns the REST interface of the leading JobManager. */
  public ClusterRest rest() {
    return rest;
  }

  public FlinkCommandLine commandLine() {
    return commandLine;
  }

  /** Returns the directory of configuration, logs and state. */
  public Path directory() {
    return home.root();
  }

  /** Returns the log of a process, even if the process has ended. */
  public Path log(String process) {
    return home.log(process);
  }

  /** Returns the live JobManagers, the oldest first. */
  public List<JavaProcess> jobManagers() {
    return launcher.alive("jobmanager");
  }

  /** Returns the live TaskManagers, the oldest first; a name is also the id that Flink shows. */
  public List<JavaProcess> taskManagers() {
    return launcher.alive("taskmanager");
  }

  /** Returns the broker; an empty list while it is down. */
  public List<JavaProcess> brokers() {
    return launcher.alive("broker");
  }

  public List<JavaProcess> processes() {
    return launcher.alive(null);
  }

  /**
   * Starts the broker for the first time, or again with the same port and data; it is available
   * seconds later.
   */
  public JavaProcess startBroker() throws IOException {
    return launcher.own(
        "broker",
        List.of("-Xmx256m"),
        BrokerMain.class.getName(),
        List.of(home.root().resolve("broker").toString(), Integer.toString(brokerPort)));
  }

  /**
   * Starts an HTTP gateway; it is available seconds later.
   *
   * @param mainClass the main class, on this JVM's class path
   */
  public JavaProcess startGateway(String mainClass, List<String> arguments) throws IOException {
    // otherwise the command line would log to the user's directory
    String log = "-Dlog4j2.configurationFile=" + home.conf().resolve("log4j.properties").toUri();
    return launcher.own("gateway", List.of("-Xmx256m", log), mainClass, arguments);
  }

  /**
   * Starts one more JobManager; it is available seconds later.
   *
   * @param changed Flink settings that differ from the cluster's
   */
  public JavaProcess startJobManager(Map<String, String> changed) throws IOException {
    int port = Ports.free();
    FlinkSettings.Memory memory = settings.jobManager();
    List<String> arguments = arguments(memory);
    arguments.addAll(List.of("-D", "rest.port=" + port));
    changed.forEach((key, value) -> arguments.addAll(List.of("-D", key + "=" + value)));
    JavaProcess process =
        launcher.flink("jobmanager", memory.jvmFlags(), true, JOB_MANAGER, arguments);
    synchronized (restPorts) {
      restPorts.put(process, port);
    }
    return process;
  }

  /** Starts one more TaskManager; it is available seconds later. */
  public synchronized JavaProcess startTaskManager() throws IOException {
    return startTaskManager(launcher.nextName("taskmanager"));
  }

  /**
   * Starts a TaskManager with a name, which may be the name of one that has ended. It then has the
   * same resource id and finds its working directory again.
   */
  public synchronized JavaProcess startTaskManager(String name) throws IOException {
    FlinkSettings.Memory memory = settings.taskManager();
    List<String> arguments = arguments(memory);
    arguments.addAll(List.of("-D", "taskmanager.resource-id=" + name));
    return launcher.flinkNamed(
        name, memory.jvmFlags(), options.fastStart(), TASK_MANAGER, arguments);
  }

  private List<String> arguments(FlinkSettings.Memory memory) {
    List<String> arguments = new ArrayList<>(List.of("--configDir", home.conf().toString()));
    arguments.addAll(memory.arguments());
    return arguments;
  }

  public void awaitBroker() throws IOException, InterruptedException {
    awaitListening(brokers(), brokerPort, "the broker");
  }

  /** Waits until exactly the live TaskManagers have registered with the JobManager. */
  public void awaitTaskManagers() throws IOException, InterruptedException {
    List<JavaProcess> wanted = taskManagers();
    List<String> names = wanted.stream().map(JavaProcess::name).sorted().toList();
    await(
        wanted,
        "the TaskManagers " + names,
        () -> rest.taskManagers().stream().sorted().toList().equals(names));
  }

  private List<Integer> restPorts() {
    synchronized (restPorts) {
      restPorts.keySet().removeIf(process -> !process.isAlive());
      return List.copyOf(restPorts.values());
    }
  }

  private static void awaitListening(List<JavaProcess> needed, int port, String what)
      throws IOException, InterruptedException {
    await(needed, what + " on port " + port, () -> listens(port));
  }

  private static boolean listens(int port) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(Ports.LOOPBACK, port), CONNECT_MILLIS);
      return true;
    }
  }

  /** Waits for a condition, and gives up as soon as a needed process has ended. */
  private static void await(List<JavaProcess> needed, String what, Waiting.Condition condition)
      throws IOException, InterruptedException {
    Waiting.until(
        what,
        START_LIMIT,
        () -> {
          for (JavaProcess process : needed) {
            if (!process.isAlive()) {
              throw new IllegalStateException(process + " ended\n" + process.lastOutput());
            }
          }
          return condition.holds();
        });
  }

  /** Kills all processes and deletes a temporary directory. Idempotent. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    launcher.close();
    leave(watchdog, options, home.root());
  }
}
