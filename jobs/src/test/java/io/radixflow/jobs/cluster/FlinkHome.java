package io.radixflow.jobs.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;

/**
 * A Flink installation made of Maven's jars: {@code conf/}, {@code lib/}, {@code log/}, laid out as
 * in Flink's own distribution.
 *
 * <p>{@code lib} holds links to the jars that Flink's distribution has, and the kernels jar; what a
 * job needs beyond them its own jar must bring, so that a class missing from it fails here as it
 * would on a real cluster.
 */
final class FlinkHome {

  /** What else, beside the {@code flink-} jars, is in {@code lib} of Flink's distribution. */
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

  /** Connectors are the job's to bring. */
  private static final Set<String> LEFT_TO_THE_JOB =
      Set.of("flink-connector-base", "flink-connector-kafka");

  private static final String LOG_CONFIGURATION =
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
      """;

  private final Path root;

  /**
   * Lays an installation out.
   *
   * @param root a directory; what is there from an earlier time is deleted
   * @param jars a directory with Flink's jars and what they need, among others
   * @param kernels the kernels jar with what it needs, for {@code lib}
   * @param settings Flink's configuration
   */
  FlinkHome(Path root, Path jars, Path kernels, Map<String, String> settings) throws IOException {
    this.root = root.toAbsolutePath();
    FileUtils.deleteDirectory(root.toFile());
    Files.createDirectories(conf());
    Files.createDirectories(lib());
    Files.createDirectories(root.resolve("log"));
    Files.writeString(conf().resolve("config.yaml"), yaml(settings));
    Files.writeString(conf().resolve("log4j.properties"), LOG_CONFIGURATION);
    try (Stream<Path> all = Files.list(jars)) {
      all.filter(FlinkHome::belongsToFlink).forEach(this::link);
    }
    link(kernels);
  }

  Path conf() {
    return root.resolve("conf");
  }

  /** The log file of a process. */
  Path log(String name) {
    return root.resolve("log").resolve(name + ".log");
  }

  /** What a process printed beside its log. */
  Path out(String name) {
    return root.resolve("log").resolve(name + ".out");
  }

  /** The class path of every process of the installation. */
  String classPath() {
    return lib().resolve("*").toString();
  }

  /** JVM flags by which a process finds its log and its configuration of it. */
  List<String> logFlags(String name) {
    return List.of(
        "-Dlog.file=" + log(name),
        "-Dlog4j.configurationFile=" + conf().resolve("log4j.properties").toUri());
  }

  private Path lib() {
    return root.resolve("lib");
  }

  private void link(Path jar) {
    try {
      Files.createSymbolicLink(lib().resolve(jar.getFileName()), jar.toRealPath());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean belongsToFlink(Path jar) {
    String artifact = jar.getFileName().toString().replaceFirst("-\\d.*", "");
    return LIBRARIES.contains(artifact)
        || artifact.startsWith("flink-") && !LEFT_TO_THE_JOB.contains(artifact);
  }

  private static String yaml(Map<String, String> settings) {
    return new TreeMap<>(settings)
        .entrySet().stream()
            .map(e -> e.getKey() + ": '" + e.getValue().replace("'", "''") + "'\n")
            .collect(Collectors.joining());
  }
}
