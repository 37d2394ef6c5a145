package io.radixflow.lab.bench.job;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.cli.command.common.SettingsOptions;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.Figures;
import io.radixflow.lab.traffic.KafkaTarget;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the job's CPU time for a turn and for a delta, without a model. */
@Command(
    name = "job",
    description = {
      "Measure the CPU time of Kafka, Flink and the operator: for a turn whose reply has one token,"
          + " and for each further delta.",
      "Broker, Flink, the job of the model sim and a client run in this process. The time of an "
          + "idle job is also measured and is subtracted. The time of the JVM's compilers and "
          + "collectors is shown separately."
    })
public final class BenchJobCommand extends CliCommand {
  /**
   * The warm-up has this many times the sessions and turns, so that the compilers finish sooner.
   */
  private static final int WARM_UP_FACTOR = 4;

  /**
   * The approximate number of steps between the last token of a reply and its session's next turn.
   */
  private static final int PAUSE_STEPS = 16;

  /** One-token replies per second. */
  private static final int RATE = 50;

  @Mixin SettingsOptions settingsOptions;
  @Mixin BenchReport report;

  @Option(
      names = "--sessions",
      paramLabel = "N",
      description = "Sessions that have a turn at the same time.")
  int sessions = 8;

  @Option(names = "--tokens", paramLabel = "N", description = "Tokens of a long reply.")
  int tokens = 64;

  @Option(names = "--step", paramLabel = "MS", description = "Milliseconds of a simulated step.")
  int step = 10;

  @Option(names = "--seconds", paramLabel = "S", description = "Length of each measurement.")
  int seconds = 20;

  BenchJobCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws Exception {
    CliException.throwIf(
        sessions < 1 || tokens < 2 || step < 1 || seconds < 1,
        "--tokens must be 2 or more, the others 1 or more");
    Settings settings =
        settingsOptions.load().with(SharedConfig.MODEL, "sim:reply=9999999,step=" + step);
    LocalStack.Options options = new LocalStack.Options(Optional.empty(), true, 0, 0);
    try (Progress progress = progress("measuring");
        LocalStack stack =
            LocalStack.start(
                settings,
                options,
                ServingSettings.engine(settings, LocatedModel::open),
                progress::detail);
        ConversationClient client = new ConversationClient(stack.settings())) {
      client.failWith(stack.end());
      measure(stack, client, progress);
    }
    return 0;
  }

  private void measure(LocalStack stack, ConversationClient client, Progress progress)
      throws Exception {
    String name = "bench-" + UUID.randomUUID();
    KafkaTarget job = new KafkaTarget(client, false);
    JobLoad load = new JobLoad(job, sessions, name);
    long replyNanos = TimeUnit.MILLISECONDS.toNanos((long) step * (tokens + PAUSE_STEPS));
    long longGap = replyNanos / sessions;
    long shortGap = TimeUnit.SECONDS.toNanos(1) / RATE;
    progress.detail("warming up");
    JobLoad warmUp = new JobLoad(job, WARM_UP_FACTOR * sessions, name + "-warm-up");
    warmUp.run(seconds / 2.0, 1, shortGap / WARM_UP_FACTOR);
    warmUp.run(seconds, tokens, longGap / WARM_UP_FACTOR);
    progress.detail("an idle job");
    ThreadCpu before = ThreadCpu.take();
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(seconds));
    ThreadCpu.Used idle = ThreadCpu.take().since(before);
    progress.detail("replies of one token");
    JobLoad.Outcome turns = load.run(seconds, 1, shortGap);
    Samples stops = new Samples();
    stack.checkpoints().forEach(checkpoint -> stops.add(checkpoint.syncMillis()));
    progress.detail("replies of " + tokens + " tokens");
    JobLoad.Outcome deltas = load.run(seconds, tokens, longGap);
    Figures figures = new Figures();
    new JobCost(idle, turns, deltas, stops).addTo(figures);
    report.write(this, figures);
  }
}
