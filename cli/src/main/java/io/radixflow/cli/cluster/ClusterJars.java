package io.radixflow.cli.cluster;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The jars of a cluster.
 *
 * @param classPath jars that include Flink and its dependencies
 * @param kernels the kernels jar with its dependencies, for Flink's {@code lib}
 * @param job the job's jar, for Flink's {@code usrlib}
 */
public record ClusterJars(List<Path> classPath, Path kernels, Path job) {

  public ClusterJars {
    classPath = List.copyOf(classPath);
  }

  /**
   * Returns the jars, with Flink's jars from this JVM's class path.
   *
   * @throws IOException if the kernels or the job are not built
   */
  public static ClusterJars ofThisProcess(Path kernels, Path job) throws IOException {
    List<Path> jars =
        Stream.of(ownClassPath().split(Pattern.quote(File.pathSeparator)))
            .filter(entry -> entry.endsWith(".jar"))
            .map(Path::of)
            .toList();
    return new ClusterJars(jars, kernels, job).checked();
  }

  /**
   * Returns the jars, with Flink's jars from a directory.
   *
   * @throws IOException if the kernels or the job are not built
   */
  public static ClusterJars in(Path directory, Path kernels, Path job) throws IOException {
    try (Stream<Path> jars = Files.list(directory)) {
      return new ClusterJars(jars.toList(), kernels, job).checked();
    }
  }

  private ClusterJars checked() throws IOException {
    for (Path jar : List.of(kernels, job)) {
      if (!Files.isRegularFile(jar)) {
        throw new IOException("there is no " + jar + "; build it: mvn -DskipTests package");
      }
    }
    return this;
  }

  /** Returns the class path of this JVM, for another JVM with the same classes. */
  static String ownClassPath() {
    return System.getProperty("java.class.path");
  }
}
