package io.radixflow.models.file;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.tensor.StoredPart;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Writes Hugging Face directories of tiny models with random weights in F32. */
public final class TinyDirectory {

  private static final String YARN =
      "{'rope_type': 'yarn', 'rope_theta': 1e6, 'factor': 4.0,"
          + " 'original_max_position_embeddings': 32, ";

  /** Texts of {@code config.json} of dense architectures, each with what sets it apart. */
  public static final List<String> CONFIGS =
      List.of(
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
                  + YARN
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
                  + YARN
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

  /** The same of architectures with experts. */
  public static final List<String> MIXTURES =
      List.of(
          model("mixtral", 2, "'num_local_experts': 4, 'num_experts_per_tok': 2"),
          model(
              "qwen2_moe",
              2,
              "'num_experts': 4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 32,"
                  + " 'shared_expert_intermediate_size': 64, 'norm_topk_prob': false"),
          model(
              "qwen3_moe",
              2,
              "'head_dim': 16, 'num_experts': 4, 'num_experts_per_tok': 2,"
                  + " 'moe_intermediate_size': 32, 'norm_topk_prob': true"),
          model(
              "glm4_moe",
              3,
              "'head_dim': 16, 'attention_bias': true, 'use_qk_norm': true, "
                  + router("'norm_topk_prob': true, 'n_group': 1, 'topk_group': 1")),
          model(
              "glm4_moe",
              2,
              "'head_dim': 16, "
                  + router("'norm_topk_prob': false, 'n_group': 2, 'topk_group': 1")),
          model(
              "gpt_oss",
              2,
              "'head_dim': 16, 'attention_bias': true, 'num_local_experts': 4,"
                  + " 'num_experts_per_tok': 2, 'sliding_window': 16, 'rope_scaling': {'rope_type':"
                  + " 'yarn', 'factor': 8.0, 'original_max_position_embeddings': 32,"
                  + " 'truncate': false}"));

  /** The same with latent attention. */
  public static final List<String> LATENT =
      List.of(
          latent(
              "deepseek_v2",
              3,
              "'scoring_func': 'softmax', 'q_lora_rank': null, "
                  + router("'n_group': 1, 'topk_group': 1")
                  + yarn("0.707")),
          latent(
              "deepseek_v2",
              2,
              "'scoring_func': 'softmax', 'topk_method': 'group_limited_greedy',"
                  + " 'q_lora_rank': 40, "
                  + router("'n_group': 2, 'topk_group': 1")),
          latent(
              "deepseek_v3",
              2,
              "'scoring_func': 'sigmoid', 'norm_topk_prob': true, 'q_lora_rank': 40, "
                  + router("'n_group': 2, 'topk_group': 1")
                  + yarn("1.0")));

  private TinyDirectory() {}

  /** The configurations of all kinds. */
  public static List<String> all() {
    return Stream.of(CONFIGS, MIXTURES, LATENT).flatMap(List::stream).toList();
  }

  private static String router(String others) {
    return "'n_routed_experts': 4, 'num_experts_per_tok': 2, 'moe_intermediate_size': 32,"
        + " 'n_shared_experts': 2, 'first_k_dense_replace': 1, 'routed_scaling_factor': 1.5, "
        + others;
  }

  private static String yarn(String weight) {
    return String.format(
        ", 'rope_scaling': {'type': 'yarn', 'factor': 4.0, 'mscale': %s, 'mscale_all_dim': %s,"
            + " 'original_max_position_embeddings': 32}",
        weight, weight);
  }

  private static String latent(String type, int layers, String others) {
    return model(
        type,
        layers,
        "'kv_lora_rank': 32, 'qk_nope_head_dim': 16, 'qk_rope_head_dim': 8, 'v_head_dim': 24, "
            + others);
  }

  /** A small model whose other fields are the same for all. */
  private static String model(String type, int layers, String others) {
    String common =
        "{'model_type': '%s', 'vocab_size': 96, 'hidden_size': 64, 'num_attention_heads': 4,"
            + " 'num_key_value_heads': 2, 'num_hidden_layers': %d, 'intermediate_size': 96,"
            + " 'max_position_embeddings': 256, 'rms_norm_eps': 1e-5, %s%s}";
    String base = others.contains("rope_theta") ? "" : "'rope_theta': 10000.0, ";
    return String.format(common, type, layers, base, others).replace('\'', '"');
  }

  /**
   * Writes {@code config.json} and {@code model.safetensors}, with every tensor that the
   * configuration needs: noise that keeps activations near 1, norms around their neutral value.
   *
   * @param config the text of {@code config.json}
   */
  public static Path write(Path directory, String config) throws IOException {
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("config.json"), config);
    ObjectMapper mapper = new ObjectMapper();
    ModelConfig model =
        HuggingFaceConfig.read("config.json", directory.toString(), mapper.readTree(config));
    HuggingFaceFamily family =
        HuggingFaceFamily.of(model.architecture(), new SupportedShapes("config.json"));
    Map<String, StoredPart> stored = new TreeMap<>();
    HuggingFaceNames.of(model, family, name -> false)
        .values()
        .forEach(part -> stored.put(part.name(), part));
    ObjectNode header = mapper.createObjectNode();
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    for (StoredPart part : stored.values()) {
      ObjectNode entry = header.putObject(part.name()).put("dtype", "F32");
      entry.set("shape", mapper.valueToTree(part.shape()));
      int start = data.size();
      data.writeBytes(noise(part, family.gemma() ? 0 : 1));
      entry.putArray("data_offsets").add(start).add(data.size());
    }
    byte[] head = mapper.writeValueAsString(header).getBytes(StandardCharsets.UTF_8);
    Files.write(
        directory.resolve("model.safetensors"),
        GgufBuilder.join(GgufBuilder.longs(head.length), head, data.toByteArray()));
    return directory;
  }

  private static byte[] noise(StoredPart part, double neutral) {
    int elements = Math.toIntExact(part.storedElements());
    ByteBuffer bytes = ByteBuffer.allocate(4 * elements).order(ByteOrder.LITTLE_ENDIAN);
    Random random = new Random(part.name().hashCode());
    long[] shape = part.shape();
    boolean norm = part.name().contains("norm");
    double deviation =
        norm ? 0.15 : shape.length == 1 ? 0.3 : 1 / Math.sqrt(shape[shape.length - 1]);
    for (int i = 0; i < elements; i++) {
      bytes.putFloat((float) (random.nextGaussian() * deviation + (norm ? neutral : 0)));
    }
    return bytes.array();
  }
}
