package io.radixflow.lab.drill;

import io.radixflow.cli.cluster.JavaProcess;
import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.lab.drill.proof.Kill;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/** Causes each fault in the cluster and waits until the job runs again. */
final class FaultInjector {
  private static final Duration BROKER_DOWN = Duration.ofSeconds(20);
  private static final Duration GATEWAY_DOWN = Duration.ofSeconds(5);
  private static final String SCHEDULER = "jobmanager.scheduler";
  private static final Map<String, String> ADAPTIVE =
      Map.of(
          SCHEDULER,
          "Adaptive",
          "jobmanager.adaptive-scheduler.submission.resource-stabilization-timeout",
          "1s",
          "jobmanager.adaptive-scheduler.executing.cooldown-after-rescaling",
          "1s",
          "jobmanager.adaptive-scheduler.executing.resource-stabilization-timeout",
          "1s");

  private final ProcessCluster cluster;
  private final DrilledJob job;
  private final SecondJob secondJob;
  private final DeadlyTurns deadlyTurns;
  private final TierFaults tierFaults;
  private final Gateways gateways;
  private final SplittableRandom random;
  private final int taskManagers;
  private final List<Kill> kills = new ArrayList<>();
  private int reloads;
  private int savepoints;
  private int fallen;

  FaultInjector(
      ProcessCluster cluster,
      DrilledJob job,
      SecondJob secondJob,
      DeadlyTurns deadlyTurns,
      TierFaults tierFaults,
      Gateways gateways,
      SplittableRandom random) {
    this.cluster = cluster;
    this.job = job;
    this.secondJob = secondJob;
    this.deadlyTurns = deadlyTurns;
    this.tierFaults = tierFaults;
    this.gateways = gateways;
    this.random = random;
    this.taskManagers = cluster.taskManagers().size();
  }

  /** Returns the kills of TaskManagers while another one had a free slot. */
  List<Kill> kills() {
    return List.copyOf(kills);
  }

  /** See {@link DrillResult#reloads}. */
  int reloads() {
    return reloads;
  }

  /** See {@link DrillResult#fallen}. */
  int fallen() {
    return fallen;
  }

  /** Causes the fault; the job runs afterwards. */
  void inject(Fault fault) throws IOException, InterruptedException {
    if (replaceFallen(taskManagers)) {
      cluster.awaitTaskManagers();
    }
    switch (fault) {
      case TASKMANAGER_KILLED -> killTaskManager();
      case JOBMANAGER_KILLED -> killJobManager(Map.of());
      case BOTH_KILLED -> killBoth();
      case BROKER_KILLED -> killBroker();
      case GATEWAY_KILLED -> gateways.killOne(random, GATEWAY_DOWN);
      case GATEWAYS_KILLED -> gateways.killAll(GATEWAY_DOWN);
      case TASKMANAGER_SUSPENDED -> suspendTaskManager();
      case SAVEPOINT -> job.submit(job.stopWithSavepoint(savepointType()), job.parallelism());
      case RESCALED -> rescale();
      case RESUBMITTED -> job.submit(job.cancel(), job.parallelism());
      case SECOND_JOB -> secondJob.run();
      case RESCALED_RUNNING -> rescaleRunning();
      case TIERS_SWITCHED -> tierFaults.switchAll();
      case PAGES_DAMAGED -> {
        tierFaults.damage();
        killTaskManager();
      }
      case DEADLY_TURN -> {
        deadlyTurns.run();
        job.awaitRunning();
      }
    }
  }

  /**
   * Replaces TaskManagers that have ended by themselves. Flink ends a process whose sink fails
   * while its task is cleaned up. This can happen to a suspended TaskManager after another one has
   * taken over its transactions. In production something else restarts it.
   */
  private boolean replaceFallen(int wanted) throws IOException {
    boolean replaced = false;
    while (cluster.taskManagers().size() < wanted) {
      cluster.startTaskManager();
      fallen++;
      replaced = true;
    }
    return replaced;
  }

  private String savepointType() {
    return savepoints++ % 2 == 0 ? "canonical" : "native";
  }

  private void killTaskManager() throws IOException, InterruptedException {
    Map<Integer, String> places = job.places();
    JavaProcess victim = workingTaskManager(places);
    Map<String, Long> opened = new HashMap<>();
    for (String name : places.values()) {
      opened.put(name, enginesOpened(name));
    }
    Set<Integer> subtasks =
        places.entrySet().stream()
            .filter(place -> place.getValue().equals(victim.name()))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    long now = System.currentTimeMillis();
    victim.kill();
    kills.add(new Kill(now, subtasks, places.size()));
    job.awaitRunningWithout(victim.name(), () -> replaceFallen(taskManagers - 1));
    // in production a replacement starts on another machine and does not slow down the recovery
    cluster.startTaskManager();
    for (String name : Set.copyOf(job.places().values())) {
      if (opened.containsKey(name) && enginesOpened(name) > opened.get(name)) {
        reloads++;
      }
    }
    cluster.awaitTaskManagers();
  }

  private long enginesOpened(String taskManager) throws IOException {
    return Logs.count(cluster.log(taskManager), "Engine on ");
  }

  private JavaProcess workingTaskManager(Map<Integer, String> places) {
    List<JavaProcess> working =
        cluster.taskManagers().stream()
            .filter(process -> places.containsValue(process.name()))
            .toList();
    return working.get(random.nextInt(working.size()));
  }

  private void killJobManager(Map<String, String> changed)
      throws IOException, InterruptedException {
    cluster.jobManagers().forEach(JavaProcess::kill);
    cluster.startJobManager(changed);
    cluster.awaitTaskManagers();
    job.awaitRunning();
  }

  private void killBoth() throws IOException, InterruptedException {
    JavaProcess victim = workingTaskManager(job.places());
    cluster.jobManagers().forEach(JavaProcess::kill);
    victim.kill();
    cluster.startJobManager(Map.of());
    cluster.startTaskManager();
    cluster.awaitTaskManagers();
    job.awaitRunning();
  }

  private void killBroker() throws IOException, InterruptedException {
    cluster.brokers().forEach(JavaProcess::kill);
    Thread.sleep(BROKER_DOWN.toMillis());
    cluster.startBroker();
    cluster.awaitBroker();
    job.awaitRunning();
  }

  /** Suspends a TaskManager until the job has moved away from it, then resumes it. */
  private void suspendTaskManager() throws IOException, InterruptedException {
    JavaProcess victim = workingTaskManager(job.places());
    victim.suspend();
    try {
      job.awaitRunningWithout(victim.name(), () -> false);
    } finally {
      victim.resume();
    }
    cluster.awaitTaskManagers();
  }

  private void rescale() throws IOException, InterruptedException {
    for (int subtasks : new int[] {1, 3, 2}) {
      job.submit(job.stopWithSavepoint(savepointType()), subtasks);
    }
  }

  /**
   * Rescales to 1, 3 and 2 subtasks by request, then by adding and removing TaskManagers, then
   * returns to the usual scheduler.
   */
  private void rescaleRunning() throws IOException, InterruptedException {
    String savepoint = job.stopWithSavepoint(savepointType());
    replaceJobManager(ADAPTIVE);
    job.submit(savepoint, 3);
    for (int subtasks : new int[] {1, 3, 2}) {
      cluster.rest().allowParallelism(job.id(), subtasks);
      job.awaitSubtasks(subtasks);
    }
    List<JavaProcess> all = cluster.taskManagers();
    all.subList(1, all.size()).forEach(JavaProcess::kill);
    job.awaitSubtasks(1);
    cluster.startTaskManager();
    job.awaitSubtasks(2);
    cluster.taskManagers().get(0).kill();
    job.awaitSubtasks(1);
    while (cluster.taskManagers().size() < all.size()) {
      cluster.startTaskManager();
    }
    job.awaitSubtasks(2);
    cluster.awaitTaskManagers();
    savepoint = job.stopWithSavepoint(savepointType());
    replaceJobManager(Map.of());
    job.submit(savepoint, 2);
  }

  private void replaceJobManager(Map<String, String> changed)
      throws IOException, InterruptedException {
    cluster.jobManagers().forEach(JavaProcess::kill);
    cluster.startJobManager(changed);
    cluster.awaitTaskManagers();
  }
}
