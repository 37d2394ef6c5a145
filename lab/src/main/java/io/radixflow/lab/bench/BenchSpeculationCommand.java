package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.grammar.GrammarSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.kernels.text.template.TemplateOptions;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.EngineRequestBuilder;
import io.radixflow.operators.engine.draft.DraftStats;
import io.radixflow.operators.engine.draft.SpeculationOptions;
import io.radixflow.operators.engine.draft.SpeculationOptions.Mode;
import io.radixflow.operators.engine.loop.ContinuousBatchingEngine;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.JsonLineOutput;
import io.radixflow.tools.cli.common.ModelOptions;
import io.radixflow.tools.cli.common.Progress;
import io.radixflow.tools.cli.common.Samples;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures what speculation gains on prompts of several kinds, one sequence at a time. */
@Command(
    name = "speculation",
    description = {
      "Measure how much quicker one sequence decodes with speculation than without, on 35 prompts:"
          + " edits, code, summaries, tool calls, the same held to schemas, steps of agents and"
          + " chat.",
      "Two engines answer each prompt in turn, and the replies are checked to be equal. Edits"
          + " predict the text that is edited."
    })
public final class BenchSpeculationCommand extends CliCommand {
  private static final String PROMPTS = "speculation.jsonl";
  private static final ObjectMapper JSON = new ObjectMapper();

  @Mixin ModelOptions modelOptions;
  @Mixin BenchRounds rounds;
  @Mixin BenchReport report;

  @Option(names = "--tokens", paramLabel = "N", description = "Most tokens of a reply.")
  int tokens = 160;

  @Option(
      names = "--temperature",
      paramLabel = "T",
      description = "Temperature; 0 for the most probable token.")
  float temperature = 0;

  @Option(names = "--drafts", paramLabel = "N", description = "Most drafts of a step.")
  int drafts = SpeculationOptions.DEFAULT.drafts();

  @Option(
      names = "--history",
      description = "Make drafts of earlier replies, too: from the second round on of the same.")
  boolean history;

  BenchSpeculationCommand(CliEnvironment environment) {
    super(environment);
  }

  private record Prompt(
      String kind, List<ChatMessage> messages, String prediction, GrammarSpec schema) {
    static Prompt of(JsonNode line) {
      List<ChatMessage> messages = new ArrayList<>();
      for (JsonNode each : line.get("messages")) {
        messages.add(new ChatMessage(each.get("role").asText(), each.get("content").asText()));
      }
      JsonNode prediction = line.get("prediction");
      JsonNode schema = line.get("schema");
      return new Prompt(
          line.get("kind").asText(),
          messages,
          prediction == null ? null : prediction.asText(),
          schema == null ? null : new GrammarSpec(GrammarSpec.Kind.JSON_SCHEMA, schema.toString()));
    }
  }

  /** The figures of one kind of prompt. */
  private static final class Kind {
    final Samples off = new Samples();
    final Samples on = new Samples();
    final Samples gain = new Samples();
    long tokens;
    long drafted;
    long accepted;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Map<String, Kind> kinds = new LinkedHashMap<>();
    try (ServedModel model = modelOptions.open(this);
        Engine off = engine(model, SpeculationOptions.OFF);
        Engine on = engine(model, speculation());
        Progress progress = progress("measuring")) {
      List<Prompt> prompts = prompts();
      TurnTimer without = new TurnTimer(off);
      TurnTimer with = new TurnTimer(on);
      for (int round = -1; round < rounds.count(); round++) {
        progress.detail("round " + Math.max(0, round + 1) + " of " + rounds.count());
        for (Prompt prompt : prompts) {
          Kind kind = kinds.computeIfAbsent(prompt.kind(), name -> new Kind());
          EngineRequest request = request(model, prompt);
          TurnTimer.TimedTurn slow = round % 2 == 0 ? without.run(request) : null;
          DraftStats before = on.stats().drafts();
          TurnTimer.TimedTurn quick = with.run(request);
          DraftStats after = on.stats().drafts();
          slow = slow == null ? without.run(request) : slow;
          if (!Arrays.equals(slow.reply(), quick.reply())) {
            throw new CliException("a reply differs with speculation: a defect");
          }
          if (round >= 0 && slow.reply().length > 1) {
            add(kind, slow, quick);
            kind.drafted += after.drafted() - before.drafted();
            kind.accepted += after.accepted() - before.accepted();
          }
        }
      }
    }
    show(kinds);
    return 0;
  }

  private SpeculationOptions speculation() {
    return new SpeculationOptions(
        Mode.AUTO, drafts, history ? SpeculationOptions.DEFAULT_HISTORY : 0);
  }

  private Engine engine(ServedModel model, SpeculationOptions speculation) {
    return ContinuousBatchingEngine.open(
        modelOptions.openBackend(this, model),
        model.tokenizer(),
        EngineOptions.builder().speculation(speculation).build());
  }

  private static List<Prompt> prompts() throws IOException {
    List<Prompt> prompts = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                BenchSpeculationCommand.class.getResourceAsStream(PROMPTS),
                StandardCharsets.UTF_8))) {
      for (String line; (line = lines.readLine()) != null; ) {
        prompts.add(Prompt.of(JSON.readTree(line)));
      }
    }
    return prompts;
  }

  private EngineRequest request(ServedModel model, Prompt prompt) {
    EngineRequestBuilder request =
        EngineRequest.builder(
            "bench",
            () -> model.chatTemplate().encode(prompt.messages(), true, TemplateOptions.NONE),
            tokens);
    if (prompt.prediction() != null) {
      request.prediction(() -> model.tokenizer().encode(prompt.prediction()));
    }
    if (prompt.schema() != null) {
      request.grammar(ids -> prompt.schema());
    }
    return request
        .sampling(new SamplingParams(temperature, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), 7, -1))
        .build();
  }

  private static void add(Kind kind, TurnTimer.TimedTurn slow, TurnTimer.TimedTurn quick) {
    int decoded = slow.reply().length - 1;
    double offSpeed = decoded / (slow.endSeconds() - slow.tokenSeconds());
    double onSpeed = decoded / (quick.endSeconds() - quick.tokenSeconds());
    kind.off.add(offSpeed);
    kind.on.add(onSpeed);
    kind.gain.add(onSpeed / offSpeed);
    kind.tokens += decoded;
  }

  private void show(Map<String, Kind> kinds) throws IOException {
    ObjectNode json = JsonLineOutput.object();
    json.put("model", modelOptions.model).put("threads", modelOptions.computeThreads());
    json.put("temperature", temperature).put("drafts", drafts);
    print(
        "%-10s %9s %9s %7s %15s %9s %9s%n",
        "median", "off tok/s", "on tok/s", "gain", "least to most", "by drafts", "right");
    for (Map.Entry<String, Kind> each : kinds.entrySet()) {
      Kind kind = each.getValue();
      double byDrafts = (double) kind.accepted / kind.tokens;
      double right = kind.drafted == 0 ? 0 : (double) kind.accepted / kind.drafted;
      print(
          "%-10s %9.1f %9.1f %6.2fx %6.2fx to %4.2fx %8.0f%% %8.0f%%%n",
          each.getKey(),
          kind.off.median(),
          kind.on.median(),
          kind.gain.median(),
          kind.gain.min(),
          kind.gain.max(),
          100 * byDrafts,
          100 * right);
      ObjectNode row = json.putObject(each.getKey());
      kind.off.putInto(row.putObject("off"));
      kind.on.putInto(row.putObject("on"));
      kind.gain.putInto(row.putObject("gain"));
      row.put("drafted", kind.drafted).put("accepted", kind.accepted).put("tokens", kind.tokens);
    }
    report.write(this, json);
  }
}
