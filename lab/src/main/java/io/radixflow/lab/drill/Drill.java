package io.radixflow.lab.drill;

import io.radixflow.cli.cluster.ClusterJars;
import io.radixflow.cli.cluster.ClusterOptions;
import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.TopicContents;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.lab.drill.http.Heard;
import io.radixflow.lab.drill.http.HttpTurn;
import io.radixflow.lab.drill.proof.HttpVerifier;
import io.radixflow.lab.drill.proof.RecoveryTimes;
import io.radixflow.lab.drill.proof.TierTally;
import io.radixflow.lab.drill.proof.Verifier;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * One drill: a cluster of processes, conversations that never pause, faults one after the other,
 * and the proof.
 *
 * <p>Two TaskManagers work, and a third has a free slot. A failure is noticed after 8 seconds
 * without a heartbeat, or immediately if a connection breaks. The job restarts after 100 ms.
 */
public final class Drill {
  private static final int TASK_MANAGERS = 3;
  private static final int SUBTASKS = 2;
  private static final int ATTEMPTS = 2;

  /** Number of replies to wait for after each fault. */
  static final int REPLIES_BETWEEN = 8;

  private static final int MAX_PAUSE_MILLIS = 2000;
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private final ClusterJars jars;
  private final DrillOptions options;
  private final Consumer<String> progress;
  private final SplittableRandom random;
  private final long started = System.nanoTime();

  /**
   * @param progress receives a line at each step
   */
  public Drill(ClusterJars jars, DrillOptions options, Consumer<String> progress) {
    this.jars = jars;
    this.options = options;
    this.progress = progress;
    this.random = new SplittableRandom(options.seed());
  }

  /**
   * Runs the drill.
   *
   * @param plan gives the next fault, or null at the end
   * @throws IOException if the cluster or the job does not come back from a fault; the message says
   *     from which
   */
  public DrillResult run(Supplier<Fault> plan) throws IOException, InterruptedException {
    ClusterOptions cluster = clusterOptions();
    Set<ProcessHandle> before = descendants();
    say("starting a cluster");
    Function<List<String>, DrillResult> result;
    try (ProcessCluster processes = ProcessCluster.start(jars, cluster, this::say)) {
      result = run(processes, plan);
    }
    Set<ProcessHandle> left = descendants();
    left.removeAll(before);
    List<String> leaked = left.stream().map(process -> process.info().toString()).toList();
    return result.apply(leaked);
  }

  private static Set<ProcessHandle> descendants() {
    return ProcessHandle.current().descendants().collect(Collectors.toSet());
  }

  private ClusterOptions clusterOptions() {
    ClusterOptions small =
        new ClusterOptions(options.directory(), 1, TASK_MANAGERS, 1, "256m", true, 0, Map.of());
    return options.isSimulated() ? small : small.computing("512m");
  }

  private Settings settings(ProcessCluster cluster) {
    // a drill has more failures per minute than a real cluster per year, so the restart delay must
    // not grow
    String backoff = "flink.restart-strategy.exponential-delay.reset-backoff-threshold=1s";
    Settings settings =
        new SettingsLoader()
            .set(options.jobOptions())
            .set(List.of(backoff))
            .load()
            .with(SharedConfig.MODEL, options.model())
            .with(KafkaConfig.BOOTSTRAP_SERVERS, cluster.bootstrapServers())
            .with(RadixflowOptions.ENGINE_ATTEMPTS, ATTEMPTS)
            .with(KafkaConfig.CREATE_TOPICS, true);
    return options.tiered() ? options.tiers().shape(settings) : settings;
  }

  private List<ConversationEvent> script(int number) {
    return SessionScript.of(options.seed(), number, options.turns(), options.maxTokens());
  }

  private Function<List<String>, DrillResult> run(ProcessCluster cluster, Supplier<Fault> plan)
      throws IOException, InterruptedException {
    Settings calm = settings(cluster);
    Settings settings = options.tiered() ? options.tiers().on(calm, cluster.directory()) : calm;
    DrilledJob job = new DrilledJob(cluster, settings);
    say("submitting the job");
    job.submit(null, SUBTASKS);
    say("starting two HTTP gateways");
    Gateways gateways = new Gateways(cluster, settings);
    SecondJob second = new SecondJob(cluster, settings, this::script);
    DeadlyTurns deadly = new DeadlyTurns(cluster, settings);
    TierFaults tiers = new TierFaults(cluster, settings, random.split());
    FaultInjector faults =
        new FaultInjector(cluster, job, second, deadly, tiers, gateways, random.split());
    Map<Fault, Integer> counts = new EnumMap<>(Fault.class);
    List<ConversationEvent> sent;
    Driver<HttpTurn, Heard> http;
    long begun = System.nanoTime();
    try (ConversationClient client = new ConversationClient(settings);
        Clients clients = clients(client, gateways, cluster)) {
      http = clients.http();
      clients.awaitReplies(options.sessions(), LIMIT);
      for (Fault fault = plan.get(); fault != null; fault = plan.get()) {
        inject(faults, fault, clients);
        counts.merge(fault, 1, Integer::sum);
      }
      say("waiting for the last replies");
      awaitEnd(clients);
      sent = new ArrayList<>(clients.sent());
    }
    long seconds = (System.nanoTime() - begun) / 1_000_000_000;
    Observed observed = new Observed(http, counts, areErased(job), seconds);
    job.stopWithSavepoint("native");
    sent.addAll(second.sent());
    sent.addAll(deadly.sent());
    List<Settings> jobs =
        counts.containsKey(Fault.SECOND_JOB)
            ? List.of(settings, second.settings())
            : List.of(settings);
    return verify(cluster, calm, jobs, sent, faults, deadly, observed);
  }

  /** Findings that exist before the topics are read. */
  private record Observed(
      Driver<HttpTurn, Heard> http, Map<Fault, Integer> faults, boolean erased, long seconds) {}

  private Clients clients(ConversationClient client, Gateways gateways, ProcessCluster cluster)
      throws IOException, InterruptedException {
    Path logs = cluster.directory().resolve("log");
    return Clients.start(client, gateways.uris(), options, this::script, logs, this::say);
  }

  private void inject(FaultInjector faults, Fault fault, Clients clients)
      throws IOException, InterruptedException {
    Thread.sleep(random.nextInt(MAX_PAUSE_MILLIS));
    say(fault.text());
    try {
      faults.inject(fault);
      clients.awaitReplies(REPLIES_BETWEEN, LIMIT);
    } catch (IOException e) {
      throw new IOException("after " + fault.text() + ": " + e.getMessage(), e);
    }
  }

  /** Returns true once the engines have confirmed the erasure of closed and erased sessions. */
  private boolean areErased(DrilledJob job) throws InterruptedException {
    try {
      job.awaitErasures();
      return true;
    } catch (IOException e) {
      say(e.getMessage());
      return false;
    }
  }

  /** Waits for all replies; if one never comes, the verdict reports it. */
  private void awaitEnd(Clients clients) throws InterruptedException {
    try {
      clients.awaitEnd(LIMIT);
    } catch (IOException e) {
      say(e.getMessage());
    }
  }

  /** Returns a function from the processes that outlive the cluster to the result. */
  private Function<List<String>, DrillResult> verify(
      ProcessCluster cluster,
      Settings calm,
      List<Settings> jobs,
      List<ConversationEvent> sent,
      FaultInjector faults,
      DeadlyTurns deadly,
      Observed observed)
      throws IOException, InterruptedException {
    HttpVerifier http = new HttpVerifier(SessionScript.PREFIX);
    TopicContents.read(
        calm, calm.get(KafkaConfig.EVENTS_TOPIC), record -> http.event(record.value()));
    sent.addAll(http.events());
    say("answering " + sent.size() + " turns once more, undisturbed");
    List<ConversationEvent> harmless =
        sent.stream().filter(event -> !deadly.deadly().contains(TrafficTurn.of(event))).toList();
    Map<TrafficTurn, Reply> expected = UndisturbedRun.of(calm, options.calmModel(), harmless);
    say("comparing");
    HttpVerifier.Verdict heard =
        http.verdict(
            List.copyOf(observed.http().replies().values()),
            observed.http().unanswered(),
            observed.http().failures(),
            expected);
    Verifier verifier = new Verifier(sent, deadly.deadly(), expected);
    RecoveryTimes times = new RecoveryTimes(faults.kills());
    TierTally tally = new TierTally(faults.kills());
    List<byte[]> deadLetters = new ArrayList<>();
    for (Settings job : jobs) {
      TopicContents.read(
          job,
          job.get(KafkaConfig.REPLIES_TOPIC),
          record -> {
            Reply reply = RecordReader.reply(record.value());
            verifier.reply(reply);
            tally.reply(reply);
          });
      TopicContents.read(
          job,
          job.get(KafkaConfig.DELTAS_TOPIC),
          record -> {
            ReplyDelta delta = RecordReader.delta(record.value());
            verifier.delta(delta);
            times.delta(delta, record.timestamp());
          });
      TopicContents.read(
          job, job.get(KafkaConfig.DEAD_LETTERS_TOPIC), record -> deadLetters.add(record.value()));
    }
    Path logs = cluster.directory().resolve("log");
    Verifier.Verdict verdict = verifier.verdict();
    int breaches = Logs.countAll(logs, "Page accounting was wrong");
    return leaked ->
        new DrillResult(
            observed.faults(),
            heard,
            verdict,
            deadly.wrongDeadLetters(deadLetters),
            deadly.deaths(),
            deadly.mostDeaths(TASK_MANAGERS),
            breaches,
            faults.reloads(),
            faults.fallen(),
            leaked,
            times.waits(),
            options.tiered() ? Optional.of(tally.tokens()) : Optional.empty(),
            observed.erased(),
            observed.seconds());
  }

  private void say(String what) {
    progress.accept("%5d s  %s".formatted((System.nanoTime() - started) / 1_000_000_000, what));
  }
}
