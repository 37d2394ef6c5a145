package io.radixflow.cli.cluster;

import java.util.List;
import java.util.stream.Stream;

/** The JVM flags of every Flink process that runs the job. */
final class JvmFlags {

  /**
   * The flags of the CPU backend's native kernels before Java 22, and the flags that Flink's
   * standard configuration sets in {@code env.java.opts.all}. Without the opened packages Flink's
   * command line fails on the first job.
   */
  static final List<String> ALL = of(Runtime.version().feature());

  private JvmFlags() {}

  /** Returns the flags for a version of Java. */
  static List<String> of(int version) {
    return Stream.of(
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:GCLockerRetryAllocationCount=1000",
            "--add-exports=java.base/sun.net.util=ALL-UNNAMED",
            "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
            "--add-exports=jdk.compiler/com.sun.tools.javac.api=ALL-UNNAMED",
            "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.net=ALL-UNNAMED",
            "--add-opens=java.base/java.io=ALL-UNNAMED",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
            "--add-opens=java.base/java.text=ALL-UNNAMED",
            "--add-opens=java.base/java.time=ALL-UNNAMED",
            "--add-opens=java.base/java.util=ALL-UNNAMED",
            "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
            "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
            "--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED")
        .filter(flag -> version < 22 || !flag.startsWith("-XX:"))
        .toList();
  }
}
