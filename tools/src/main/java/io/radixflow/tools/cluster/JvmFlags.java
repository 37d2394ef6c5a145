package io.radixflow.tools.cluster;

import java.util.ArrayList;
import java.util.List;

/** The JVM flags of every Flink process that runs the job. */
final class JvmFlags {

  /** The native kernels of the CPU backend need them; newer Java has no such flag. */
  private static final List<String> PINNING =
      Runtime.version().feature() >= 22
          ? List.of()
          : List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:GCLockerRetryAllocationCount=1000");

  /**
   * The vector module for the CPU backend, and what Flink's standard configuration sets in {@code
   * env.java.opts.all}: without the opens its command line fails on the first job.
   */
  static final List<String> ALL =
      with(
          PINNING,
          "--add-modules=jdk.incubator.vector",
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
          "--add-opens=java.base/java.util.concurrent.locks=ALL-UNNAMED");

  private JvmFlags() {}

  private static List<String> with(List<String> first, String... others) {
    List<String> all = new ArrayList<>(first);
    all.addAll(List.of(others));
    return List.copyOf(all);
  }
}
