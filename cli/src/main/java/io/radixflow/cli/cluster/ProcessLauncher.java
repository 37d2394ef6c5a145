package io.radixflow.cli.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Starts the JVMs of a cluster under a watchdog, and keeps the list of live JVMs. No JVM starts
 * after it is closed. Thread-safe.
 */
final class ProcessLauncher implements AutoCloseable {

  /** Cheap compilation and one thread of garbage collection halve the start time. */
  private static final List<String> FAST_START =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto");

  private static final int JDK_THAT_WARNS = 24;

  private final FlinkHome home;
  private final Watchdog watchdog;
  private final AtomicInteger started = new AtomicInteger();
  private final List<JavaProcess> processes = new CopyOnWriteArrayList<>();
  private boolean closed;

  ProcessLauncher(FlinkHome home, Watchdog watchdog) {
    this.home = home;
    this.watchdog = watchdog;
  }

  FlinkHome home() {
    return home;
  }

  /**
   * Starts a JVM with Flink's class path.
   *
   * @param role kind of process; its name is the role and a number
   * @param memory JVM flags
   */
  JavaProcess flink(
      String role, List<String> memory, boolean fastStart, String mainClass, List<String> arguments)
      throws IOException {
    return flinkNamed(nextName(role), memory, fastStart, mainClass, arguments);
  }

  /**
   * Starts a JVM with Flink's class path and a given name, which may be the name of a JVM that has
   * ended.
   */
  JavaProcess flinkNamed(
      String name, List<String> memory, boolean fastStart, String mainClass, List<String> arguments)
      throws IOException {
    List<String> flags = new ArrayList<>(memory);
    flags.addAll(JvmFlags.ALL);
    return start(name, flags, fastStart, home.classPath(), mainClass, arguments);
  }

  /** Starts a JVM with the class path of this one. */
  JavaProcess own(String role, List<String> memory, String mainClass, List<String> arguments)
      throws IOException {
    return start(nextName(role), memory, true, ClusterJars.ownClassPath(), mainClass, arguments);
  }

  /** Returns the live processes of a role, or of all roles if null, in the order of their start. */
  List<JavaProcess> alive(String role) {
    processes.removeIf(process -> !process.isAlive());
    return processes.stream()
        .filter(process -> role == null || process.name().startsWith(role + "-"))
        .toList();
  }

  String nextName(String role) {
    return role + "-" + (started.get() + 1);
  }

  private synchronized JavaProcess start(
      String name,
      List<String> flags,
      boolean fastStart,
      String classPath,
      String mainClass,
      List<String> arguments)
      throws IOException {
    if (closed) {
      throw new IOException("the cluster is closed: " + name + " is not started");
    }
    started.incrementAndGet();
    List<String> command = new ArrayList<>(fastStart ? FAST_START : List.of());
    command.addAll(flags);
    if (Runtime.version().feature() >= JDK_THAT_WARNS) {
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.addAll(home.logFlags(name));
    command.addAll(List.of("-cp", classPath, mainClass));
    command.addAll(arguments);
    JavaProcess process =
        JavaProcess.start(
            name, command, Map.of("FLINK_CONF_DIR", home.conf().toString()), home.out(name));
    processes.add(process);
    try {
      watchdog.watch(process.process());
    } catch (IOException e) {
      process.kill();
      throw new IOException("nothing would end " + name + " with this process", e);
    }
    return process;
  }

  /** Kills all processes. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    List<JavaProcess> all = alive(null);
    all.forEach(process -> process.process().destroyForcibly());
    all.forEach(JavaProcess::kill);
  }
}
