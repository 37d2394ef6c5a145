package io.radixflow.lab.bench.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.grammar.TokenTrie;
import io.radixflow.lab.bench.Figures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures how long token masks and the compilation of grammars take. */
@Command(
    name = "bench",
    description = {
      "Measure how long the mask of a reply's next token takes with 128,000 tokens, and how long "
          + "the compilation of a schema with 100 properties takes.",
      "The vocabulary is synthetic and always the same; each document's schema is compiled again."
    })
public final class GrammarBenchCommand extends CliCommand {
  @Mixin OperationTimes times;

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
    times.check();
    List<byte[]> vocabulary = SyntheticVocabulary.tokens();
    List<GrammarCase> cases = GrammarCase.all(vocabulary);
    if (workload != null) {
      Files.writeString(workload, json(vocabulary, cases).toString());
    }
    Figures figures = new Figures();
    figures.note("vocabulary of %,d tokens, Java %s", SyntheticVocabulary.SIZE, Runtime.version());
    try (Progress progress = progress("measuring")) {
      measure(progress, figures.section("seconds", "microseconds"), vocabulary, cases);
    }
    times.report.write(this, figures);
    return 0;
  }

  private void measure(
      Progress progress, Figures figures, List<byte[]> vocabulary, List<GrammarCase> cases) {
    OperationTimes.Operation compile = () -> cases.get(0).compile();
    Samples first = new Samples();
    first.add(OperationTimes.seconds(compile));
    TokenTrie trie = TokenTrie.of(vocabulary, SyntheticVocabulary.END);
    times.measure(progress, figures, "mask, all documents", new Masks(trie, cases));
    for (GrammarCase each : cases) {
      Masks masks = new Masks(trie, List.of(each));
      times.measure(progress, figures, "mask, " + each.name(), masks);
    }
    times.measure(progress, figures, "compile 100 properties", compile);
    figures.add("the same, the first time", "the same, the first time", first, 1e6);
  }

  /**
   * Computes the mask of a document's next token, and accepts the token; one document after the
   * other.
   */
  private static final class Masks implements OperationTimes.Operation {
    private final TokenTrie trie;
    private final List<GrammarCase> documents;
    private final long[] mask = new long[(SyntheticVocabulary.SIZE + 63) / 64];
    private int next;
    private GrammarCase document;
    private int at;
    private GrammarMatcher matcher;

    Masks(TokenTrie trie, List<GrammarCase> documents) {
      this.trie = trie;
      this.documents = documents;
    }

    @Override
    public void prepare() {
      if (document == null || at == document.ids().length) {
        document = documents.get(next++ % documents.size());
        matcher = document.compile().matcher(trie);
        at = 0;
      }
    }

    @Override
    public Object run() {
      matcher.mask(mask);
      int token = document.ids()[at++];
      if (!matcher.acceptToken(token)) {
        throw new IllegalStateException("the grammar does not allow token " + token);
      }
      return mask;
    }
  }

  private static ObjectNode json(List<byte[]> vocabulary, List<GrammarCase> cases) {
    ObjectNode json = JsonLineOutput.object();
    ArrayNode tokens = json.putArray("tokens");
    vocabulary.forEach(bytes -> tokens.add(Base64.getEncoder().encodeToString(bytes)));
    json.put("end", SyntheticVocabulary.END);
    ArrayNode all = json.putArray("cases");
    for (GrammarCase each : cases) {
      ObjectNode one = all.addObject().put("name", each.name());
      one.put("schema", each.schema()).put("text", each.text());
      one.set("ids", JsonLineOutput.array(each.ids()));
    }
    return json;
  }
}
