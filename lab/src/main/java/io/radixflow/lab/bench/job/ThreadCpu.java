package io.radixflow.lab.bench.job;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** A sample of the CPU time of this process's threads, to be compared with an earlier sample. */
record ThreadCpu(
    long takenNanos,
    long processNanos,
    Map<Long, Long> threads,
    Map<Long, ThreadGroupName> groups) {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  /**
   * The CPU time of an interval.
   *
   * @param seconds length of the interval
   * @param cpu nanoseconds of each group of threads
   */
  record Used(double seconds, Map<ThreadGroupName, Long> cpu) {

    long nanos(ThreadGroupName group) {
      return cpu.getOrDefault(group, 0L);
    }
  }

  static ThreadCpu take() {
    Map<Long, Long> nanos = new HashMap<>();
    Map<Long, ThreadGroupName> groups = new HashMap<>();
    long[] ids = THREADS.getAllThreadIds();
    ThreadInfo[] infos = THREADS.getThreadInfo(ids);
    for (int i = 0; i < ids.length; i++) {
      long cpu = THREADS.getThreadCpuTime(ids[i]);
      if (infos[i] != null && cpu >= 0) {
        nanos.put(ids[i], cpu);
        groups.put(ids[i], ThreadGroupName.of(infos[i].getThreadName()));
      }
    }
    return new ThreadCpu(System.nanoTime(), PROCESS.getProcessCpuTime(), nanos, groups);
  }

  /**
   * Returns the CPU time since an earlier sample. CPU time outside of Java threads counts as the
   * JVM's: compilers, collectors, RocksDB's background threads, and ended threads.
   */
  Used since(ThreadCpu earlier) {
    Map<ThreadGroupName, Long> used = new EnumMap<>(ThreadGroupName.class);
    long known = 0;
    for (Map.Entry<Long, Long> thread : threads.entrySet()) {
      long more = thread.getValue() - earlier.threads.getOrDefault(thread.getKey(), 0L);
      used.merge(groups.get(thread.getKey()), more, Long::sum);
      known += more;
    }
    long process = processNanos - earlier.processNanos;
    used.merge(ThreadGroupName.JVM, Math.max(0, process - known), Long::sum);
    return new Used((takenNanos - earlier.takenNanos) * 1e-9, used);
  }
}
