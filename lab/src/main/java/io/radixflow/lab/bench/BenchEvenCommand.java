package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.lab.traffic.ConversationSource;
import io.radixflow.lab.traffic.EngineReply;
import io.radixflow.lab.traffic.EngineTarget;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures how evenly replies continue during a long prompt, and how this slows the prompt. */
@Command(
    name = "even",
    description = {
      "Measure the time between tokens of running replies while a long prompt is computed, and the"
          + " time to the prompt's first token next to these replies and in an idle engine.",
      "Measures the engine only, without Kafka, Flink and speculation, which puts several tokens"
          + " into a step when its guesses are right. See scheduler.step-stretch and"
          + " scheduler.prompt-slowdown."
    })
public final class BenchEvenCommand extends CliCommand {
  /** Tokens of each reply before the first prompt, and between two prompts. */
  private static final int SETTLED = 24;

  private static final int SHORT_PROMPT = 64;

  @Mixin BenchOptions common;

  @Option(names = "--sessions", paramLabel = "N", description = "Running replies.")
  int sessions = 8;

  @Option(names = "--prompt", paramLabel = "N", description = "Tokens of the long prompt.")
  int prompt = 2000;

  @Option(
      names = "--stretch",
      paramLabel = "X",
      description = "The option scheduler.step-stretch; 0 sets no bound.")
  double stretch = SchedulerOptions.DEFAULT.sharing().stretch();

  @Option(names = "--chunk", paramLabel = "N", description = "The option engine.prefill-chunk.")
  int chunk = EngineOptions.DEFAULT.prefillChunk();

  private final Samples idle = new Samples();
  private final Samples beside = new Samples();
  private final Samples alone = new Samples();
  private final Samples shared = new Samples();

  BenchEvenCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws Exception {
    CliException.throwIf(
        sessions < 1
            || sessions > EngineOptions.DEFAULT.maxRunning() - 1
            || prompt < 1
            || chunk < 1,
        "--sessions must be 1 to %d, --prompt and --chunk at least 1"
            .formatted(EngineOptions.DEFAULT.maxRunning() - 1));
    try (ServedModel model = common.model.open(this);
        Engine engine = open(model);
        EngineTarget target = new EngineTarget(engine);
        Progress progress = progress("measuring")) {
      int vocabSize = model.config().vocabSize();
      SplittableRandom random = new SplittableRandom(1);
      Supplier<EngineRequest> prompts =
          () -> ConversationSource.random(random, vocabSize, prompt, 1);
      for (int round : common.rounds.all(progress)) {
        record(idle, target.run(prompts.get()).tokenSeconds(), round);
      }
      List<EngineReply> replies = new ArrayList<>();
      int replyTokens = model.config().contextLength() / 2;
      for (int i = 0; i < sessions; i++) {
        replies.add(
            target.begin(ConversationSource.random(random, vocabSize, SHORT_PROMPT, replyTokens)));
      }
      for (EngineReply reply : replies) {
        reply.awaitMore(1);
      }
      for (int round : common.rounds.all(progress)) {
        measure(target, prompts.get(), replies, round);
      }
    }
    show();
    return 0;
  }

  /** Lets the replies run alone for a while, then sends a prompt. */
  private void measure(
      EngineTarget target, EngineRequest request, List<EngineReply> replies, int round)
      throws InterruptedException {
    long settled = System.nanoTime();
    for (EngineReply reply : replies) {
      reply.awaitMore(SETTLED);
    }
    Samples between = new Samples();
    long begun = System.nanoTime();
    replies.forEach(reply -> reply.gaps(settled, begun).forEach(between::add));
    alone.add(between.median());
    EngineReply first = target.run(request);
    long came = first.start() + (long) (first.tokenSeconds() * 1e9);
    record(beside, first.tokenSeconds(), round);
    if (round >= 0) {
      replies.forEach(reply -> reply.gaps(first.start(), came).forEach(shared::add));
    }
  }

  private static void record(Samples samples, double seconds, int round) {
    if (round >= 0) {
      samples.add(seconds);
    }
  }

  private Engine open(ServedModel model) {
    int pageTokens = EngineOptions.DEFAULT.pageTokens();
    int tokens = (sessions + 1) * model.config().contextLength();
    EngineOptions options =
        EngineOptions.builder()
            .kvPages(tokens / pageTokens)
            .prefillChunk(chunk)
            .speculation(SpeculationOptions.OFF)
            .scheduler(
                SchedulerOptions.DEFAULT.withSharing(
                    stretch, SchedulerOptions.DEFAULT.sharing().slowdown()))
            .build();
    return common.openEngine(this, model, options);
  }

  private void show() throws IOException {
    double worst = shared.quantile(0.99);
    Figures figures = new Figures();
    ObjectNode json = figures.json();
    json.put("sessions", sessions).put("prompt", prompt).put("stretch", stretch);
    figures.note(
        "%d running replies, a prompt of %,d tokens, stretch %.1f", sessions, prompt, stretch);
    figures.head("milliseconds");
    figures.add("between tokens, without the prompt", "token_seconds_alone", alone, 1e3);
    figures.add("between tokens, while it is computed", "token_seconds", shared, 1e3);
    figures.add("first token of the prompt, idle", "first_token_seconds_idle", idle, 1e3);
    figures.add("first token with the replies", "first_token_seconds", beside, 1e3);
    figures.note("p99 over the median without the prompt   %.2fx", worst / alone.median());
    figures.note("first token over an idle engine's   %.2fx", beside.median() / idle.median());
    common.report.write(this, figures);
  }
}
