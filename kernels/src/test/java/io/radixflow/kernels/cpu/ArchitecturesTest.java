package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ResourceFolder;
import io.radixflow.models.file.ModelFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Architectures that differ from llama against logits of transformers in double precision. */
class ArchitecturesTest {

  private static final double TOLERANCE = 2e-4;

  static Stream<Path> models() throws IOException {
    Path root = ResourceFolder.of("/architectures");
    try (Stream<Path> files = Files.list(root)) {
      return files.filter(Files::isDirectory).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsEqualThoseOfTransformersWhateverTheChunk(Path model)
      throws IOException, InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F32);
    try (ModelFile file = ModelFile.open(model);
        CpuBackend backend = CpuBackend.open(file, options)) {
      backend.openPool(16, CpuKvPool.PAGE_TOKENS);
      for (JsonNode reference : references(model)) {
        int[] ids = new ObjectMapper().convertValue(reference.get("ids"), int[].class);
        int[] pages = Sequences.pages(ids.length);
        float[][] logits = Sequences.logits(backend, ids, 256, pages);
        assertThat(Sequences.logits(backend, ids, 7, pages)).isDeepEqualTo(logits);
        assertThat(Sequences.logits(backend, ids, 1, pages)).isDeepEqualTo(logits);
        for (int position = 0; position < ids.length; position++) {
          check(reference, position, logits[position]);
        }
      }
    }
  }

  private static void check(JsonNode reference, int position, float[] logits) {
    for (JsonNode top : reference.get("top").get(position)) {
      int id = top.get(0).intValue();
      assertThat((double) logits[id])
          .as("token %d at position %d", id, position)
          .isCloseTo(top.get(1).doubleValue(), within(TOLERANCE));
    }
    JsonNode all = reference.get("rows").path(Integer.toString(position));
    for (int id = 0; id < all.size(); id++) {
      assertThat((double) logits[id])
          .as("token %d at position %d", id, position)
          .isCloseTo(all.get(id).doubleValue(), within(TOLERANCE));
    }
  }

  private static List<JsonNode> references(Path model) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(model.resolve("logits.jsonl.gz"))),
                StandardCharsets.UTF_8))) {
      List<JsonNode> references = new ArrayList<>();
      for (String line; (line = reader.readLine()) != null; ) {
        references.add(mapper.readTree(line));
      }
      return references;
    }
  }
}
