package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.JsonLineFiles;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.device.Backend;
import io.radixflow.models.ModelConfig;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Computes logits of token ids on a backend without an engine. */
@Command(
    name = "logits",
    description = {
      "Compute logits of token ids: JSON lines in, JSON lines out.",
      "{\"ids\",\"positions\"} gives {\"top\",\"sum\",\"l2\",\"digest\"}: for each position the "
          + "ten largest [id, logit], and sum and Euclidean norm of all logits; and one SHA-256 "
          + "of all requested logits (32-bit little-endian floats, positions ascending).",
      "Position p predicts the token after ids[0..p]; without positions, only the last position "
          + "is computed."
    })
public final class LogitsCommand extends ServedModelCommand {
  @Option(
      names = "--chunk",
      paramLabel = "N",
      description = "Prompt tokens of a request in one batch.")
  int chunk = 256;

  @Option(
      names = "--with",
      paramLabel = "FILE",
      description = "File of other requests (JSON lines with ids) that run in the same batches.")
  String with;

  LogitsCommand(CliEnvironment environment) {
    super(environment);
  }

  private record Request(int[] ids, int[] positions) {}

  @Override
  void answer(ServedModel model, JsonLineInput input, JsonLineOutput output)
      throws IOException, InterruptedException {
    if (chunk < 1) {
      throw new CliException("--chunk is " + chunk + "; it must be at least 1");
    }
    List<int[]> company = company(model.config());
    List<JsonLineInput.Line> lines = input.all();
    try (Backend backend = modelOptions.openBackend(this, model);
        LogitsRunner runner = new LogitsRunner(backend, chunk, company, longest(lines));
        Progress progress = progress(spec.name())) {
      for (JsonLineInput.Line line : lines) {
        answer(line, runner, backend.model(), output);
        progress.detail(output.lines() + " of " + lines.size() + " lines");
      }
    }
  }

  private static void answer(
      JsonLineInput.Line line, LogitsRunner runner, ModelConfig config, JsonLineOutput output)
      throws InterruptedException {
    if (line.error() != null) {
      output.writeError(line.error());
      return;
    }
    try {
      Request request = request(line.fields(), config);
      output.write(toJson(request, runner.run(request.ids(), request.positions())));
    } catch (InvalidInputException e) {
      output.writeError(e.getMessage());
    }
  }

  private List<int[]> company(ModelConfig config) throws IOException {
    List<int[]> company = new ArrayList<>();
    if (with == null) {
      return company;
    }
    try (JsonLineInput others = JsonLineFiles.openInput(this, with)) {
      for (JsonLineInput.Line line : others.all()) {
        if (line.error() != null) {
          throw new CliException(with + ": " + line.error());
        }
        try {
          company.add(request(line.fields(), config).ids());
        } catch (InvalidInputException e) {
          throw new CliException(with + ": " + e.getMessage(), e);
        }
      }
    }
    return company;
  }

  private static int longest(List<JsonLineInput.Line> lines) {
    int longest = 1;
    for (JsonLineInput.Line line : lines) {
      if (line.error() == null) {
        longest = Math.max(longest, size(line.fields().get("ids")));
      }
    }
    return longest;
  }

  private static int size(JsonNode arrayOrNull) {
    return arrayOrNull == null ? 0 : arrayOrNull.size();
  }

  private static Request request(JsonObject fields, ModelConfig config) {
    int[] ids = fields.require("ids").integers("ids");
    if (ids.length == 0 || ids.length > config.contextLength()) {
      throw new InvalidInputException(
          "ids has " + ids.length + " ids; it must have 1 to " + config.contextLength());
    }
    checkRange("ids", ids, config.vocabSize());
    int[] positions =
        fields.has("positions") ? fields.integers("positions") : new int[] {ids.length - 1};
    checkRange("positions", positions, ids.length);
    if (positions.length == 0) {
      throw new InvalidInputException("positions is empty");
    }
    return new Request(ids, positions);
  }

  private static void checkRange(String field, int[] values, int end) {
    for (int value : values) {
      if (value < 0 || value >= end) {
        throw new InvalidInputException(field + " has " + value + "; it must be 0 to " + (end - 1));
      }
    }
  }

  private static ObjectNode toJson(Request request, LogitsResult result) {
    ObjectNode line = JsonLineOutput.object();
    ArrayNode top = line.putArray("top");
    ArrayNode sum = line.putArray("sum");
    ArrayNode l2 = line.putArray("l2");
    for (int position : request.positions()) {
      LogitsResult.Row row = result.row(position);
      ArrayNode pairs = top.addArray();
      for (int i = 0; i < row.topIds().length; i++) {
        pairs.addArray().add(row.topIds()[i]).add(row.topLogits()[i]);
      }
      sum.add(row.sum());
      l2.add(row.l2());
    }
    return line.put("digest", result.digest());
  }
}
