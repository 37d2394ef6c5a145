package io.radixflow.lab.jmh;

import static io.radixflow.lab.jmh.JmhRuns.NO_GOAL;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures grammars: the masks of tokens, and compiling. */
@Command(
    name = "bench",
    description = {
      "Measure with JMH how long the mask of a reply's next token takes at 128,000 tokens, and"
          + " compiling a schema of 100 properties.",
      "The vocabulary is synthetic and always the same; each document's schema is compiled again."
    })
public final class GrammarBenchCommand extends CliCommand {
  private static final String MASK = "GrammarBenchmark.mask";
  private static final String COMPILE = "GrammarBenchmark.compile";
  private static final double MASK_P50 = 50;
  private static final double MASK_P99 = 1000;
  private static final double COMPILE_P50 = 10_000;

  @Mixin JmhRuns runs;

  @Option(
      names = "--write",
      paramLabel = "FILE",
      description = "Also write the vocabulary, the schemas and the documents as JSON.")
  Path workload;

  GrammarBenchCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    runs.check();
    List<byte[]> vocabulary = SyntheticVocabulary.tokens();
    List<GrammarCase> cases = GrammarCase.all(vocabulary);
    if (workload != null) {
      Files.writeString(workload, json(vocabulary, cases).toString());
    }
    try (Progress progress = progress("measuring")) {
      progress.detail("masks");
      runs.measure("mask, all documents", MASK_P50, MASK_P99, MASK, Map.of("only", ""));
      for (GrammarCase each : cases) {
        progress.detail("masks of " + each.name());
        runs.measure("mask, " + each.name(), NO_GOAL, NO_GOAL, MASK, Map.of("only", each.name()));
      }
      progress.detail("compiling");
      runs.measure("compile 100 properties", COMPILE_P50, NO_GOAL, COMPILE, Map.of("warm", false));
      runs.measureFirst("the same, the first time", COMPILE, Map.of("warm", false));
      runs.measureFirst("the first time after a warm-up", COMPILE, Map.of("warm", true));
    }
    print("vocabulary of %,d tokens, Java %s%n", SyntheticVocabulary.SIZE, Runtime.version());
    runs.print(out());
    runs.report.write(this, runs.json());
    return 0;
  }

  private static ObjectNode json(List<byte[]> vocabulary, List<GrammarCase> cases) {
    ObjectNode json = JsonLineOutput.object();
    ArrayNode tokens = json.putArray("tokens");
    vocabulary.forEach(bytes -> tokens.add(Base64.getEncoder().encodeToString(bytes)));
    json.put("end", SyntheticVocabulary.END);
    ArrayNode all = json.putArray("cases");
    for (GrammarCase each : cases) {
      ArrayNode ids =
          all.addObject()
              .put("name", each.name())
              .put("schema", each.schema())
              .put("text", each.text())
              .putArray("ids");
      for (int id : each.ids()) {
        ids.add(id);
      }
    }
    return json;
  }
}
