package io.radixflow.jobs.cluster;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Flink session cluster of real processes on loopback: a JobManager, TaskManagers that come and
 * go, and Flink's own command line to submit with.
 *
 * <p>Every process has the layout of a deployment: Flink and the kernels in {@code lib}, the job in
 * its own jar. {@link #close()} ends them all, whatever happened.
 */
final class ProcessCluster implements AutoCloseable {

  private static final String JOB_MANAGER =
      "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
  private static final String TASK_MANAGER =
      "org.apache.flink.runtime.taskexecutor.TaskManagerRunner";
  private static final String COMMAND_LINE = "org.apache.flink.client.cli.CliFrontend";
  private static final String MEMORY = "org.apache.flink.runtime.util.bash.BashJavaUtils";
  private static final String MEMORY_LINE = "BASH_JAVA_UTILS_EXEC_RESULT:";

  private static final Pattern JOB_ID = Pattern.compile("JobID ([0-9a-f]{32})");
  private static final Pattern SAVEPOINT = Pattern.compile("Savepoint completed. Path: (\\S+)");
  private static final Duration START_LIMIT = Duration.ofMinutes(2);
  private static final int SLOTS = 2;

  private final FlinkHome home;
  private final ClusterRest rest;
  private final List<JavaProcess> processes = new ArrayList<>();
  private final List<JavaProcess> taskManagers = new ArrayList<>();
  private List<String> taskManagerMemory;
  private int started;

  /**
   * Lays the installation out and starts its JobManager.
   *
   * @param root a directory of its own, emptied first: configuration, logs, checkpoints, savepoints
   * @param jars a directory with Flink's jars, among others
   * @param kernels the kernels jar for {@code lib}
   * @param settings added to the cluster's own, or in their place
   */
  ProcessCluster(Path root, Path jars, Path kernels, Map<String, String> settings)
      throws IOException, InterruptedException {
    int restPort = freePort();
    Map<String, String> all = settings(root.toAbsolutePath(), restPort);
    all.putAll(settings);
    this.home = new FlinkHome(root, jars, kernels, all);
    this.rest = new ClusterRest(restPort);
    List<String> memory = memory("GET_JM_RESOURCE_PARAMS");
    start("jobmanager", memory, JOB_MANAGER, List.of("--executionMode", "cluster"));
  }

  /** What the JobManager says. */
  ClusterRest rest() {
    return rest;
  }

  /** Starts one more TaskManager and waits until its slots are there. */
  void startTaskManager() throws IOException, InterruptedException {
    if (taskManagerMemory == null) {
      taskManagerMemory = memory("GET_TM_RESOURCE_PARAMS");
    }
    taskManagers.add(start("taskmanager", taskManagerMemory, TASK_MANAGER, List.of()));
    int slots = SLOTS * taskManagers.size();
    await("slots of " + taskManagers.size() + " TaskManagers")
        .atMost(START_LIMIT)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(() -> rest.slots() >= slots || failIfAnyEnded());
  }

  /** Kills the TaskManager that was started first, as {@code kill -9} does. */
  void killTaskManager() {
    JavaProcess victim = taskManagers.remove(0);
    processes.remove(victim);
    victim.kill();
  }

  /**
   * Submits a job as {@code flink run --detached} does.
   *
   * @param savepoint where the job goes on from, or null
   * @param arguments of the job
   * @return the job's id
   */
  String submit(Path jar, String savepoint, List<String> arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("run", "--detached"));
    if (savepoint != null) {
      command.addAll(List.of("--fromSavepoint", savepoint));
    }
    command.add(jar.toString());
    command.addAll(arguments);
    return find(JOB_ID, commandLine(command));
  }

  /**
   * Stops a job with a savepoint, as {@code flink stop} does.
   *
   * @return the savepoint's path
   */
  String stopWithSavepoint(String job) throws IOException, InterruptedException {
    return find(SAVEPOINT, commandLine(List.of("stop", job)));
  }

  /** The processes of the cluster that run. */
  List<JavaProcess> processes() {
    return List.copyOf(processes);
  }

  @Override
  public void close() {
    for (int i = processes.size() - 1; i >= 0; i--) {
      processes.get(i).close();
    }
    processes.clear();
    taskManagers.clear();
  }

  private String commandLine(List<String> arguments) throws IOException, InterruptedException {
    try (JavaProcess cli = launch("cli", List.of("-Xmx512m"), COMMAND_LINE, arguments)) {
      return cli.awaitSuccess(START_LIMIT);
    }
  }

  private JavaProcess start(
      String name, List<String> memory, String mainClass, List<String> arguments)
      throws IOException {
    List<String> all = new ArrayList<>(List.of("--configDir", home.conf().toString()));
    all.addAll(arguments);
    if (memory.size() > 1) {
      all.addAll(List.of(memory.get(1).split(" ")));
    }
    JavaProcess process = launch(name, List.of(memory.get(0).split(" ")), mainClass, all);
    processes.add(process);
    return process;
  }

  private JavaProcess launch(
      String role, List<String> memory, String mainClass, List<String> arguments)
      throws IOException {
    String name = role + "-" + ++started;
    List<String> command = new ArrayList<>(memory);
    command.addAll(JvmFlags.ALL);
    command.addAll(home.logFlags(name));
    command.addAll(List.of("-cp", home.classPath(), mainClass));
    command.addAll(arguments);
    Map<String, String> environment = Map.of("FLINK_CONF_DIR", home.conf().toString());
    return JavaProcess.start(name, command, environment, home.out(name));
  }

  /** The JVM flags and the dynamic settings that Flink derives from the configured sizes. */
  private List<String> memory(String command) throws IOException, InterruptedException {
    List<String> arguments = List.of(command, "--configDir", home.conf().toString());
    try (JavaProcess utils = launch("memory", List.of("-Xmx256m"), MEMORY, arguments)) {
      return utils
          .awaitSuccess(START_LIMIT)
          .lines()
          .filter(line -> line.startsWith(MEMORY_LINE))
          .map(line -> line.substring(MEMORY_LINE.length()))
          .toList();
    }
  }

  private boolean failIfAnyEnded() throws IOException {
    for (JavaProcess process : processes) {
      if (!process.isAlive()) {
        throw new AssertionError(process + " ended\n" + process.lastOutput());
      }
    }
    return false;
  }

  private static String find(Pattern pattern, String output) {
    Matcher matcher = pattern.matcher(output);
    if (!matcher.find()) {
      throw new IllegalStateException("no " + pattern + " in\n" + output);
    }
    return matcher.group(1);
  }

  private static Map<String, String> settings(Path root, int restPort) throws IOException {
    Map<String, String> settings = new HashMap<>();
    settings.put("jobmanager.rpc.address", "127.0.0.1");
    settings.put("jobmanager.rpc.port", String.valueOf(freePort()));
    settings.put("jobmanager.bind-host", "127.0.0.1");
    settings.put("jobmanager.memory.process.size", "1200m");
    settings.put("rest.address", "127.0.0.1");
    settings.put("rest.bind-address", "127.0.0.1");
    settings.put("rest.port", String.valueOf(restPort));
    settings.put("taskmanager.host", "127.0.0.1");
    settings.put("taskmanager.bind-host", "127.0.0.1");
    settings.put("taskmanager.numberOfTaskSlots", String.valueOf(SLOTS));
    settings.put("taskmanager.memory.process.size", "2g");
    settings.put("taskmanager.memory.managed.size", "256m");
    settings.put("heartbeat.interval", "1000");
    settings.put("heartbeat.timeout", "8000");
    settings.put("io.tmp.dirs", root.resolve("tmp").toString());
    settings.put("execution.checkpointing.dir", root.resolve("checkpoints").toUri().toString());
    settings.put(
        "execution.checkpointing.savepoint-dir", root.resolve("savepoints").toUri().toString());
    return settings;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
