package io.radixflow.cli.cluster;

import io.radixflow.cli.flink.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A Flink installation made of Maven's jars: {@code conf/}, {@code lib/}, {@code usrlib/}, {@code
 * log/}, laid out as in Flink's own distribution.
 *
 * <p>{@code lib} has links to the jars of Flink's distribution, the kernels jar, and this module's
 * jar, which has no classes of the job. The job's jar in {@code usrlib} must contain everything
 * else that the job needs. So a missing class fails here as it would on a real cluster.
 */
final class FlinkHome {

  /** The jars in {@code lib} of Flink's distribution besides the {@code flink-} jars. */
  private static final Set<String> LIBRARIES =
      Set.of(
          "RoaringBitmap",
          "async-profiler",
          "commons-cli",
          "commons-collections",
          "commons-compress",
          "commons-io",
          "commons-lang3",
          "commons-math3",
          "commons-text",
          "frocksdbjni",
          "javassist",
          "jsr305",
          "kryo",
          "log4j-api",
          "log4j-core",
          "log4j-slf4j-impl",
          "lz4-java",
          "minlog",
          "objenesis",
          "reflectasm",
          "slf4j-api",
          "snakeyaml-engine",
          "snappy-java");

  /** This module's jar, with the guard of the web port and the reporter of metrics. */
  private static final String CLI = "radixflow-cli";

  /** The job must bring its own connectors. */
  private static final Set<String> LEFT_TO_THE_JOB =
      Set.of("flink-connector-base", "flink-connector-kafka");

  static final String LOG_CONFIGURATION =
      """
      rootLogger.level = INFO
      rootLogger.appenderRef.file.ref = file
      appender.file.type = File
      appender.file.name = file
      appender.file.fileName = ${sys:log.file}
      appender.file.layout.type = PatternLayout
      appender.file.layout.pattern = %d %-5p [%t] %c{1} - %m%n
      logger.kafka.name = org.apache.kafka
      logger.kafka.level = WARN
      logger.metrics.name = org.apache.flink.metrics
      logger.metrics.level = ERROR
      """;

  private final Path root;
  private final Path job;

  /**
   * Creates an installation.
   *
   * @param root a directory that is empty or does not exist
   * @param settings Flink's configuration
   * @param zooKeeperPort port of ZooKeeper on loopback
   */
  FlinkHome(Path root, ClusterJars jars, Map<String, String> settings, int zooKeeperPort)
      throws IOException {
    this.root = root.toAbsolutePath();
    for (String directory : List.of("conf", "lib", "usrlib", "log", "tmp")) {
      Files.createDirectories(this.root.resolve(directory));
    }
    Files.writeString(conf().resolve("config.yaml"), yaml(settings));
    Files.writeString(conf().resolve("log4j.properties"), LOG_CONFIGURATION);
    Files.writeString(zooKeeperConfiguration(), zooKeeper(zooKeeperPort));
    for (Path jar : jars.classPath()) {
      if (belongsToFlink(jar)) {
        link(jar, lib());
      }
    }
    link(jars.kernels(), lib());
    job = link(jars.job(), this.root.resolve("usrlib"));
  }

  Path root() {
    return root;
  }

  Path job() {
    return job;
  }

  Path zooKeeperConfiguration() {
    return conf().resolve("zoo.cfg");
  }

  Path conf() {
    return root.resolve("conf");
  }

  Path log(String name) {
    return root.resolve("log").resolve(name + ".log");
  }

  /** Returns the file for the output of a process besides its log. */
  Path out(String name) {
    return root.resolve("log").resolve(name + ".out");
  }

  String classPath() {
    return lib().resolve("*").toString();
  }

  /** Returns the JVM flags that tell a process its log and its directory of temporary files. */
  List<String> logFlags(String name) {
    return List.of(
        "-Djava.io.tmpdir=" + root.resolve("tmp"),
        "-Dlog.file=" + log(name),
        "-Dlog4j.configurationFile=" + conf().resolve("log4j.properties").toUri());
  }

  private Path lib() {
    return root.resolve("lib");
  }

  private static Path link(Path jar, Path directory) throws IOException {
    return Files.createSymbolicLink(directory.resolve(jar.getFileName()), jar.toRealPath());
  }

  private static boolean belongsToFlink(Path jar) {
    String artifact = jar.getFileName().toString().replaceFirst("-\\d.*", "");
    return LIBRARIES.contains(artifact)
        || artifact.equals(CLI)
        || artifact.startsWith("flink-") && !LEFT_TO_THE_JOB.contains(artifact);
  }

  private String zooKeeper(int port) {
    return "tickTime=1000\n"
        + ("clientPort=" + port + "\n")
        + ("clientPortAddress=" + Ports.LOOPBACK + "\n")
        + ("dataDir=" + root.resolve("zookeeper") + "\n")
        + "admin.enableServer=false\n";
  }

  private static String yaml(Map<String, String> settings) {
    return new TreeMap<>(settings)
        .entrySet().stream()
            .map(e -> e.getKey() + ": '" + e.getValue().replace("'", "''") + "'\n")
            .collect(Collectors.joining());
  }
}
