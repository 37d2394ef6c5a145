package io.radixflow.lab.bench.speculation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.draft.DraftStats;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.draft.SpeculationOptions.Mode;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.lab.bench.BenchOptions;
import io.radixflow.lab.bench.Figures;
import io.radixflow.lab.bench.speculation.SpeculationTable.TimedReply;
import io.radixflow.lab.traffic.EngineReply;
import io.radixflow.lab.traffic.EngineTarget;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the gain of speculation on prompts of several kinds, one sequence at a time. */
@Command(
    name = "speculation",
    description = {
      "Measure how much faster one sequence decodes with speculation than without, on 35 "
          + "prompts: edits, code, summaries, tool calls with and without enforced schemas, "
          + "steps of agents and chat.",
      "Two engines answer each prompt in turn, and their replies must be equal. Requests for "
          + "edits use the edited text as prediction."
    })
public final class BenchSpeculationCommand extends CliCommand {
  @Mixin BenchOptions common;

  @Option(names = "--tokens", paramLabel = "N", description = "Maximum tokens of a reply.")
  int tokens = 160;

  @Option(
      names = "--temperature",
      paramLabel = "T",
      description = "Temperature; 0 for the most probable token.")
  float temperature = 0;

  @Option(
      names = "--before",
      paramLabel = "WHAT",
      description =
          "The earlier prompts of the tenant: nothing; same (all prompts); or similar (all "
              + "prompts with a greeting).")
  Before before = Before.NOTHING;

  BenchSpeculationCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<TimedReply> replies = new ArrayList<>();
    try (ServedModel model = common.model.open(this);
        Engine off = engine(model, SpeculationOptions.OFF);
        Engine on =
            engine(model, new SpeculationOptions(Mode.AUTO, SpeculationOptions.DEFAULT.drafts()));
        Progress progress = progress("measuring")) {
      List<BenchPrompt> prompts = BenchPrompt.all();
      Pair engines = new Pair(model, on, new EngineTarget(off), new EngineTarget(on));
      for (int round : common.rounds.all(progress)) {
        List<TimedReply> measured = round(engines, prompts, round);
        if (round >= 0) {
          replies.addAll(measured);
        }
      }
    }
    Figures figures = new Figures();
    ObjectNode json = figures.json();
    json.put("model", common.model.model).put("threads", common.model.computeThreads());
    json.put("temperature", temperature).put("before", before.name());
    SpeculationTable.add(replies, figures);
    common.report.write(this, figures);
    return 0;
  }

  private Engine engine(ServedModel model, SpeculationOptions speculation) {
    return common.openEngine(this, model, EngineOptions.builder().speculation(speculation).build());
  }

  /** The two engines; {@code with} is the target for {@code on}. */
  private record Pair(ServedModel model, Engine on, EngineTarget without, EngineTarget with) {}

  /** Sends all prompts in namespaces that share nothing with other rounds. */
  private List<TimedReply> round(Pair engines, List<BenchPrompt> prompts, int round)
      throws InterruptedException {
    String namespace = "round " + round;
    if (before != Before.NOTHING) {
      for (BenchPrompt prompt : prompts) {
        engines.with.run(request(engines.model, before.prompt(prompt), namespace));
      }
    }
    List<TimedReply> replies = new ArrayList<>();
    for (int i = 0; i < prompts.size(); i++) {
      BenchPrompt prompt = prompts.get(i);
      String tenant = before == Before.NOTHING ? namespace + ", prompt " + i : namespace;
      EngineRequest request = request(engines.model, prompt, tenant);
      TimedReply reply = time(engines, prompt.kind(), request, (round + i) % 2 == 0);
      if (reply.tokens() > 0) {
        replies.add(reply);
      }
    }
    return replies;
  }

  private EngineRequest request(ServedModel model, BenchPrompt prompt, String namespace) {
    return prompt
        .request(model, tokens)
        .namespace(namespace)
        .sampling(new SamplingParams(temperature, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), 7, -1))
        .build();
  }

  private static TimedReply time(
      Pair engines, String kind, EngineRequest request, boolean withoutFirst)
      throws InterruptedException {
    EngineReply slow = withoutFirst ? engines.without.run(request) : null;
    DraftStats begin = engines.on.stats().drafts();
    EngineReply quick = engines.with.run(request);
    DraftStats end = engines.on.stats().drafts();
    slow = slow == null ? engines.without.run(request) : slow;
    CliException.throwIf(
        !Arrays.equals(slow.tokens(), quick.tokens()),
        "a reply differs with speculation: a defect");
    return new TimedReply(
        kind,
        slow.tokens().length - 1,
        slow.endSeconds() - slow.tokenSeconds(),
        quick.endSeconds() - quick.tokenSeconds(),
        end.drafted() - begin.drafted(),
        end.accepted() - begin.accepted());
  }
}
