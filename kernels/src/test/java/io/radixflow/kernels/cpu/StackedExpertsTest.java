package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.file.ModelFile;
import io.radixflow.models.file.QuantisedCopy;
import io.radixflow.models.file.StackedExperts;
import io.radixflow.models.file.TinyDirectory;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** It does not matter whether experts are stored one by one or all in one tensor. */
class StackedExpertsTest {

  private static final String CONFIG =
      """
      {"model_type": "%s", "vocab_size": 96, "hidden_size": 64, "num_attention_heads": 4,
       "num_key_value_heads": 2, "num_hidden_layers": 2, "intermediate_size": 96,
       "moe_intermediate_size": 32, "shared_expert_intermediate_size": 48,
       "max_position_embeddings": 256, "num_experts": 8, "num_experts_per_tok": 3,
       "n_routed_experts": 8, "first_k_dense_replace": 1, "n_group": 2, "topk_group": 1,
       "topk_method": "%s", "kv_lora_rank": 32, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8,
       "v_head_dim": 16, "q_lora_rank": null}
      """;

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {"mixtral", "qwen2_moe", "qwen3_moe", "glm4_moe", "deepseek_v2", "deepseek_v3"})
  void logitsEqualThoseOfExpertsOneByOne(String type) throws IOException, InterruptedException {
    assertSame(write(type));
  }

  @Test
  void quantisedExpertsMayBeStackedToo() throws IOException, InterruptedException {
    Path quantised = directory.resolve("quantised");
    QuantisedCopy.write(
        write("qwen3_moe"), QuantisedCopy.Format.FP8, quantised, directory.resolve("dense"));
    assertSame(quantised);
  }

  private Path write(String type) throws IOException {
    boolean second = type.equals("deepseek_v2");
    boolean latent = type.startsWith("deepseek");
    String config = String.format(CONFIG, type, second ? "group_limited_greedy" : "noaux_tc");
    if (!latent) {
      config = config.replaceAll("\"kv_lora_rank.*\n.*}", "\"head_dim\": 16}");
    }
    return TinyDirectory.write(directory.resolve("model"), config);
  }

  private void assertSame(Path model) throws IOException, InterruptedException {
    Path stacked = StackedExperts.write(model, directory.resolve("stacked"));
    assertThat(logits(stacked)).isDeepEqualTo(logits(model));
  }

  private static float[][] logits(Path model) throws IOException, InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F32);
    try (ModelFile file = ModelFile.open(model);
        CpuBackend backend = CpuBackend.open(file, options)) {
      backend.openPool(16, CpuKvPool.PAGE_TOKENS);
      int[] ids = Sequences.randomTokens(20, file.config().vocabSize(), 7);
      return Sequences.logits(backend, ids, 20, Sequences.pages(20));
    }
  }
}
