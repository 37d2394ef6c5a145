package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.client.ConversationClient;
import io.radixflow.jobs.config.Settings;
import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.kernels.text.template.TemplateOptions;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.tools.cli.chat.ChatSession;
import io.radixflow.tools.cli.chat.ReplyView;
import io.radixflow.tools.cli.chat.TurnEnd;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Errors;
import io.radixflow.tools.cli.common.JsonLineOutput;
import io.radixflow.tools.cli.common.LocalServing;
import io.radixflow.tools.cli.common.LocatedModel;
import io.radixflow.tools.cli.common.Progress;
import io.radixflow.tools.cli.common.Samples;
import io.radixflow.tools.local.LocalStack;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the delay that Kafka and Flink add to the first delta. */
@Command(
    name = "pipeline",
    description = {
      "Measure the time to the first text of a reply: from the engine alone, and through Kafka, Flink"
          + " and Kafka in this process.",
      "Both answer the same messages, one at a time, in turn. The difference of the medians is what"
          + " the pipeline adds."
    })
public final class BenchPipelineCommand extends CliCommand {
  private static final int MAX_TOKENS = 4;
  private static final int WARM_UP = 10;

  @Mixin LocalServing serving;
  @Mixin BenchReport report;

  @Option(names = "--requests", paramLabel = "N", description = "Measured requests each.")
  int requests = 50;

  BenchPipelineCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws Exception {
    if (requests < 1) {
      throw new CliException("--requests is " + requests + "; it must be at least 1");
    }
    Samples bare = new Samples();
    Samples piped = new Samples();
    try (LocalStack stack = serving.startWithBroker(this, 0, 0);
        ServingEngine engine = engine(stack.settings());
        ConversationClient client = new ConversationClient(stack.settings());
        Progress progress = progress("measuring")) {
      client.failWith(serving.end(stack));
      TurnTimer direct = new TurnTimer(engine.engine());
      for (int i = -WARM_UP; i < requests; i++) {
        progress.detail("request " + Math.max(0, i + 1) + " of " + requests);
        String message = "Tell me about the number " + (1000 + i) + ".";
        double directSeconds = direct.run(request(engine, message)).textSeconds();
        double pipedSeconds = throughKafka(client, message);
        if (i >= 0) {
          bare.add(directSeconds);
          piped.add(pipedSeconds);
        }
      }
    }
    show(bare, piped);
    return 0;
  }

  /** A second engine with the same options, which sleeps while the pipeline's works. */
  private ServingEngine engine(Settings settings) throws Exception {
    try (Progress progress = progress("loading the engine to compare with")) {
      return ServingSettings.engine(settings, LocatedModel::open).open();
    }
  }

  private static EngineRequest request(ServingEngine engine, String message) {
    List<ChatMessage> messages = List.of(new ChatMessage("user", message));
    return EngineRequest.builder(
            "bench",
            () -> engine.model().chatTemplate().encode(messages, true, TemplateOptions.NONE),
            MAX_TOKENS)
        .build();
  }

  private double throughKafka(ConversationClient client, String message)
      throws InterruptedException {
    GenerationOptions options = GenerationOptions.greedy(MAX_TOKENS);
    ChatSession session = ChatSession.open(client, "", "bench-" + UUID.randomUUID(), null, options);
    ReplyView view = new ReplyView(new PrintWriter(Writer.nullWriter()));
    session.ask(message, view);
    try {
      TurnEnd end = view.end().get();
      if (end.failed()) {
        throw new CliException("no reply: " + end.line());
      }
    } catch (ExecutionException e) {
      throw new CliException("no reply: " + Errors.line(e.getCause()), e);
    }
    return view.firstNanos() * 1e-9;
  }

  private void show(Samples bare, Samples piped) throws IOException {
    int cores = Runtime.getRuntime().availableProcessors();
    int threads = serving.model.computeThreads();
    double added = piped.median() - bare.median();
    print("%d cores, of which the engine had %d; %d requests%n", cores, threads, requests);
    print("%-24s %9s %9s%n", "first text, ms", "p50", "p99");
    line("engine alone", bare);
    line("Kafka, Flink, Kafka", piped);
    print("added at p50: %.1f ms%n", added * 1e3);
    ObjectNode json = JsonLineOutput.object();
    json.put("cores", cores).put("engine_threads", threads).put("added_seconds_p50", added);
    bare.putInto(json.putObject("engine_seconds"));
    piped.putInto(json.putObject("pipeline_seconds"));
    report.write(this, json);
  }

  private void line(String name, Samples samples) {
    print("%-24s %9.1f %9.1f%n", name, samples.median() * 1e3, samples.quantile(0.99) * 1e3);
  }
}
