package io.radixflow.lab.bench.pipeline;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.cli.command.common.SettingsOptions;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.EngineRequest;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.Figures;
import io.radixflow.lab.traffic.ConversationSource;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.EngineReply;
import io.radixflow.lab.traffic.EngineTarget;
import io.radixflow.lab.traffic.KafkaReply;
import io.radixflow.lab.traffic.KafkaTarget;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the delay that Kafka and Flink add to the first delta, and its parts. */
@Command(
    name = "pipeline",
    description = {
      "Measure the time to the first text of a reply: from the engine alone, and through Kafka,"
          + " Flink and Kafka in this process.",
      "Both answer the same messages, one at a time, in turn. The difference of the medians is "
          + "the delay of the pipeline. A second table shows how long the text takes from one "
          + "place to the next."
    })
public final class BenchPipelineCommand extends CliCommand {
  private static final int MAX_TOKENS = 4;

  @Mixin ModelOptions model;
  @Mixin SettingsOptions settingsOptions;
  @Mixin BenchReport report;

  @Option(
      names = "--requests",
      paramLabel = "N",
      description = "Number of measured requests for each of the two.")
  int requests = 300;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      description = "Number of warm-up requests before that.")
  int warmUp = 300;

  BenchPipelineCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws Exception {
    CliException.throwIf(
        requests < 1 || warmUp < 0, "--requests must be at least 1, --warm-up 0 or more");
    Settings given = settingsOptions.load(this, model);
    LocatedModel located = model.locate(this, given.get(SharedConfig.MODEL));
    Settings settings = KafkaHops.time(given.with(SharedConfig.MODEL, located.location()));
    EngineFactory engines =
        new TimedEngineFactory(ServingSettings.engine(settings, LocatedModel::open));
    FirstTexts bare = new FirstTexts();
    FirstTexts piped = new FirstTexts();
    try (LocalStack stack = start(settings, engines);
        ServingEngine engine = open(engines);
        ConversationClient client = new ConversationClient(stack.settings());
        Progress progress = progress("measuring")) {
      client.failWith(stack.end());
      EngineTarget direct = new EngineTarget(engine.engine());
      KafkaTarget job = new KafkaTarget(client, false);
      String name = "bench-" + UUID.randomUUID() + "-";
      for (int i = -warmUp; i < requests; i++) {
        progress.detail(i < 0 ? "warming up" : "request " + (i + 1) + " of " + requests);
        String message = "Tell me about the number " + (10_000 + i) + ".";
        FirstTexts.Turn alone = alone(direct, engine, message);
        FirstTexts.Turn through = through(job, name + i, message);
        if (i >= 0) {
          bare.add(alone);
          piped.add(through);
        }
      }
    }
    show(bare, piped);
    return 0;
  }

  private LocalStack start(Settings settings, EngineFactory engines) throws Exception {
    LocalStack.Options options = new LocalStack.Options(Optional.empty(), true, 0, 0);
    try (Progress progress = progress("starting")) {
      return LocalStack.start(settings, options, engines, progress::detail);
    }
  }

  /** Opens a second engine with the same options; it is idle while the pipeline's engine works. */
  private ServingEngine open(EngineFactory engines) throws Exception {
    try (Progress progress = progress("loading the engine to compare with")) {
      return engines.open();
    }
  }

  private static FirstTexts.Turn alone(EngineTarget target, ServingEngine engine, String message)
      throws InterruptedException {
    List<Message> messages = List.of(new Message("user", message));
    EngineRequest request =
        EngineRequest.builder(
                "bench",
                () -> engine.model().chatTemplate().encode(messages, true, TemplateOptions.NONE),
                MAX_TOKENS)
            .build();
    TurnTimeline timeline = TurnTimeline.CURRENT;
    timeline.begin();
    EngineReply reply = target.run(request);
    return new FirstTexts.Turn(reply.textSeconds(), timeline.times(), reply.usage());
  }

  /** Runs a turn in a new session to its last delta. */
  private static FirstTexts.Turn through(KafkaTarget job, String session, String message)
      throws InterruptedException {
    TurnTimeline timeline = TurnTimeline.CURRENT;
    timeline.begin();
    KafkaReply reply =
        job.ask(ConversationSource.message(session, "turn", message, MAX_TOKENS).build());
    ReplyDelta last = Driver.await(reply.finished());
    if (last.error() != null) {
      throw new CliException("no reply: " + last.error().message());
    }
    timeline.pass(Hop.HEARD, reply.firstNanos());
    return new FirstTexts.Turn(reply.firstSeconds(), timeline.times(), last.usage());
  }

  private void show(FirstTexts bare, FirstTexts piped) throws Exception {
    int cores = Runtime.getRuntime().availableProcessors();
    Figures figures = new Figures();
    figures.json().put("cores", cores).put("engine_threads", model.computeThreads());
    figures.note("%d cores, of which the engine had %d", cores, model.computeThreads());
    bare.addTo(figures.section("engine_seconds", "milliseconds, engine alone"));
    piped.addTo(figures.section("pipeline_seconds", "milliseconds, Kafka, Flink, Kafka"));
    added(figures, "added", piped.seconds(), bare.seconds());
    added(figures, "added_outside", piped.outside(), bare.outside());
    report.write(this, figures);
  }

  private static void added(Figures figures, String name, Samples through, Samples alone) {
    double median = through.median() - alone.median();
    double late = through.quantile(0.99) - alone.quantile(0.99);
    figures.json().put(name + "_seconds_p50", median).put(name + "_seconds_p99", late);
    String title = name.equals("added") ? "added" : "added outside the engine";
    figures.note("%s: %.1f at p50, %.1f at p99", title, median * 1e3, late * 1e3);
  }
}
