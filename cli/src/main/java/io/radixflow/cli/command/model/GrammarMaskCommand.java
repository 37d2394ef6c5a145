package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.ConsoleProgress;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.grammar.TokenTrie;
import io.radixflow.kernels.sampling.TokenMask;
import io.radixflow.models.Sha256;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Computes which tokens grammars allow. */
@Command(
    name = "mask",
    description = {
      "Compute which tokens grammars allow after a prefix: JSON lines in, JSON lines out.",
      "{\"schema\"|\"regex\"|\"lark\"|\"gbnf\",\"whitespace\",\"prefix\"} gives "
          + "{\"count\",\"sha256\"}: the number of allowed tokens, and the hash of their decimal "
          + "ids in ascending order, separated by spaces."
    })
public final class GrammarMaskCommand extends GrammarLinesCommand {
  @Option(
      names = "--tokenizer",
      paramLabel = "MODEL",
      defaultValue = "${env:RADIXFLOW_MODEL:-SmolLM2-135M-Instruct}",
      description = "Use this model's tokenizer; same values as --model of other commands.")
  String tokenizer;

  @Option(
      names = "--offline",
      description = "Never use the network for a model (environment: RADIXFLOW_OFFLINE=1).")
  boolean offline;

  private TokenTrie trie;

  GrammarMaskCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    ConsoleProgress transfer = new ConsoleProgress(err(), environment.terminal(), System::nanoTime);
    try (ServedModel model = environment.models().locate(tokenizer, offline, transfer).open()) {
      trie = TokenTrie.of(model.tokenizer());
    }
    return answerAll();
  }

  @Override
  ObjectNode answer(Grammar grammar, JsonObject fields) {
    byte[] prefix = fields.require("prefix").text("prefix").getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher(trie);
    int at = matcher.acceptBytes(prefix);
    if (at < prefix.length) {
      throw new InvalidInputException("the grammar does not allow byte " + at + " of the prefix");
    }
    long[] mask = new long[TokenMask.words(trie.vocabSize())];
    matcher.mask(mask);
    int[] ids =
        IntStream.range(0, trie.vocabSize()).filter(id -> TokenMask.allows(mask, id)).toArray();
    String listed = IntStream.of(ids).mapToObj(Integer::toString).collect(Collectors.joining(" "));
    return JsonLineOutput.object()
        .put("count", ids.length)
        .put(
            "sha256",
            HexFormat.of().formatHex(Sha256.of(listed.getBytes(StandardCharsets.US_ASCII))));
  }
}
