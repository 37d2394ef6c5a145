package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.TestModels;
import io.radixflow.models.file.ModelFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Measures the error that the type of keys and values adds to the logits of a real model. */
@Tag("model")
@Tag("slow")
class KvTypeErrorTest {

  private static final int MOST_ROWS = 1000;

  @Test
  void logitsOfSmolLm2WithEightBitsAreWithinATenthOfARowsDeviation() throws Exception {
    try (ModelFile file = ModelFile.open(TestModels.smolLm2())) {
      float[][] expected = logits(file, KvSpec.Type.F32);
      RowErrors half = new RowErrors(logits(file, KvSpec.Type.F16), expected);
      RowErrors eighth = new RowErrors(logits(file, KvSpec.Type.FP8), expected);
      System.out.printf("%d rows%n  f16  %s%n  fp8  %s%n", expected.length, half, eighth);
      assertThat(half.rootMeanSquare()).isLessThan(0.005);
      assertThat(eighth.rootMeanSquare()).isLessThan(0.1);
      assertThat(eighth.agreement()).isGreaterThan(0.9);
    }
  }

  private static float[][] logits(ModelFile file, KvSpec.Type type) throws Exception {
    List<float[]> rows = new ArrayList<>();
    try (CpuBackend backend = CpuBackend.open(file, new DeviceOptions("cpu", 2, type));
        KvPool pool = backend.openPool(64, CpuKvPool.PAGE_TOKENS)) {
      for (int[] tokens : conversations()) {
        int[] pages = Sequences.pages(tokens.length);
        assertThat(pages.length).isLessThanOrEqualTo(pool.pages());
        rows.addAll(List.of(Sequences.logits(backend, tokens, 128, pages)));
      }
    }
    return rows.toArray(float[][]::new);
  }

  /** Prompts with the replies that the reference gave, as far as memory for their logits goes. */
  private static List<int[]> conversations() throws IOException {
    List<int[]> all = new ArrayList<>();
    ObjectMapper mapper = new ObjectMapper();
    byte[] lines = KvTypeErrorTest.class.getResourceAsStream("greedy.jsonl").readAllBytes();
    for (String line : new String(lines, StandardCharsets.UTF_8).split("\n")) {
      JsonNode node = mapper.readTree(line);
      for (JsonNode turn : node.has("turns") ? node.get("turns") : List.of(node)) {
        all.add(IntStream.concat(ints(turn.get("promptIds")), ints(turn.get("ids"))).toArray());
      }
    }
    int rows = 0;
    int count = 0;
    while (count < all.size() && rows < MOST_ROWS) {
      rows += all.get(count++).length;
    }
    return all.subList(0, count);
  }

  private static IntStream ints(JsonNode array) {
    return IntStream.range(0, array.size()).map(i -> array.get(i).intValue());
  }
}
