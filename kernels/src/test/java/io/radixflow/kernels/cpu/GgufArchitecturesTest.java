package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.model.file.GgufConversion;
import io.radixflow.kernels.model.file.ModelFile;
import io.radixflow.kernels.model.file.TinyDirectory;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A model computes the same from a GGUF file as from the directory that it was made of. */
class GgufArchitecturesTest {

  /** Lengths that leave windows of 16 and original contexts of 32 behind. */
  private static final int TOKENS = 70;

  /**
   * Models whose logits may differ in the last bits: the converter reorders the rows of queries and
   * keys, so that sums run in another order, or a factor is a double in JSON and a float in GGUF.
   */
  private static final Pattern INEXACT =
      Pattern.compile(
          "\"(llama|mistral|ministral|ministral3|granite|smollm3)\"|long_factor|attention_factor");

  @TempDir Path directory;

  static Stream<Arguments> models() {
    String yarn =
        "{'rope_type': 'yarn', 'rope_theta': 1e6, 'factor': 4.0,"
            + " 'original_max_position_embeddings': 32, ";
    return Stream.of(
        model(
            "gemma2",
            4,
            "'sliding_window': 16, 'head_dim': 16, 'query_pre_attn_scalar': 16,"
                + " 'attn_logit_softcapping': 5.0, 'final_logit_softcapping': 12.0"),
        model(
            "gemma3_text",
            4,
            "'sliding_window': 16, 'sliding_window_pattern': 3, 'head_dim': 16,"
                + " 'query_pre_attn_scalar': 16, 'rope_theta': 1e6, 'rope_local_base_freq': 1e4,"
                + " 'rope_scaling': {'rope_type': 'linear', 'factor': 8.0}"),
        model("phi3", 2, "'original_max_position_embeddings': 256, 'sliding_window': 19"),
        model(
            "phi3",
            2,
            "'original_max_position_embeddings': 16, 'rope_scaling': {'type':"
                + " 'longrope', 'short_factor': [1, 1, 1, 1, 1, 1, 1, 1],"
                + " 'long_factor': [1, 1.2, 1.5, 2, 4, 8, 16, 32]}"),
        model("glm4", 2, "'head_dim': 16, 'partial_rotary_factor': 0.5, 'attention_bias': true"),
        model("cohere2", 4, "'sliding_window': 16, 'logit_scale': 0.25, 'layer_norm_eps': 1e-5"),
        model("olmo2", 2, "'rope_theta': 5e5"),
        model(
            "olmo3",
            4,
            "'sliding_window': 16, 'rope_parameters': {'full_attention': "
                + yarn
                + "'beta_fast': 32, 'beta_slow': 1},"
                + " 'sliding_attention': {'rope_type': 'default', 'rope_theta': 1e6}}, 'layer_types': "
                + "['sliding_attention', 'sliding_attention', 'sliding_attention', 'full_attention']"),
        model(
            "exaone4",
            4,
            "'sliding_window': 16, 'head_dim': 16, 'layer_types': "
                + "['sliding_attention', 'sliding_attention', 'sliding_attention', 'full_attention']"),
        model("exaone4", 2, "'sliding_window': null, 'head_dim': 16"),
        model(
            "granite",
            2,
            "'embedding_multiplier': 12.0, 'attention_multiplier': 0.2,"
                + " 'residual_multiplier': 0.6, 'logits_scaling': 8.0"),
        model("smollm3", 4, "'no_rope_layers': [1, 1, 1, 0]"),
        model("mistral", 2, "'sliding_window': 16, 'head_dim': 32"),
        model(
            "ministral",
            2,
            "'sliding_window': 16, 'head_dim': 32,"
                + " 'layer_types': ['sliding_attention', 'full_attention']"),
        model(
            "ministral3",
            2,
            "'head_dim': 16, 'rope_parameters': "
                + yarn
                + "'mscale': 1.0, 'mscale_all_dim': 1.0, 'llama_4_scaling_beta': 0.125}"),
        model("llama", 2, "'attention_bias': true, 'mlp_bias': true, 'head_dim': 16"),
        model(
            "llama",
            2,
            "'head_dim': 16, 'rope_scaling': {'rope_type': 'llama3', 'factor': 8.0,"
                + " 'low_freq_factor': 1.0, 'high_freq_factor': 4.0,"
                + " 'original_max_position_embeddings': 32}"),
        model(
            "qwen2",
            2,
            "'rope_scaling': {'type': 'yarn', 'rope_type': 'yarn', 'factor': 4.0,"
                + " 'original_max_position_embeddings': 64}"),
        model("qwen3", 2, "'head_dim': 32"));
  }

  /** A small model whose other fields are the same for all. */
  private static Arguments model(String type, int layers, String others) {
    String common =
        "{'model_type': '%s', 'vocab_size': 96, 'hidden_size': 64, 'num_attention_heads': 4,"
            + " 'num_key_value_heads': 2, 'num_hidden_layers': %d, 'intermediate_size': 96,"
            + " 'max_position_embeddings': 256, 'rms_norm_eps': 1e-5, %s%s}";
    String base = others.contains("rope_theta") ? "" : "'rope_theta': 10000.0, ";
    return Arguments.of(type, String.format(common, type, layers, base, others).replace('\'', '"'));
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsEqualThoseFromTheDirectory(String type, String config)
      throws IOException, InterruptedException {
    check(TinyDirectory.write(directory.resolve("model"), config));
  }

  @ParameterizedTest
  @CsvSource({"cohere2", "olmo3", "phi3-longrope"})
  void logitsOfModelsOfTransformersEqualThoseFromTheDirectory(String name)
      throws IOException, InterruptedException, URISyntaxException {
    check(Path.of(getClass().getResource("/architectures/" + name).toURI()));
  }

  private void check(Path model) throws IOException, InterruptedException {
    Path gguf = GgufConversion.convert(model, directory.resolve("model.gguf"));
    float[][] expected = logits(model);
    float[][] logits = logits(gguf);
    boolean exact = !INEXACT.matcher(Files.readString(model.resolve("config.json"))).find();
    assertThat(logits).hasDimensions(TOKENS, expected[0].length);
    float largest = 0;
    for (int position = 0; position < TOKENS; position++) {
      for (int id = 0; id < logits[position].length; id++) {
        largest = Math.max(largest, Math.abs(logits[position][id] - expected[position][id]));
      }
    }
    assertThat(largest).as("largest difference").isLessThanOrEqualTo(exact ? 0 : 2e-5f);
  }

  private static float[][] logits(Path model) throws IOException, InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F32);
    try (ModelFile file = ModelFile.open(model);
        CpuBackend backend = CpuBackend.open(file, options)) {
      backend.openPool(16, CpuKvPool.PAGE_TOKENS);
      int[] ids = Sequences.randomTokens(TOKENS, file.config().vocabSize(), 7);
      return Sequences.logits(backend, ids, 32, Sequences.pages(TOKENS));
    }
  }
}
