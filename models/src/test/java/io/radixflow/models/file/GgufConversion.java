package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.file.format.SafetensorsFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes a GGUF file of a Hugging Face directory as llama.cpp's converter does: its keys, names,
 * order of rows and types. Keys that it leaves out although the model cannot be read without them
 * (windows that differ from an architecture's usual ones) are added in its spelling.
 */
public final class GgufConversion {

  private static final Map<String, String> ARCHITECTURES =
      Map.ofEntries(
          Map.entry("llama", "llama"),
          Map.entry("mistral", "llama"),
          Map.entry("ministral", "llama"),
          Map.entry("ministral3", "mistral3"),
          Map.entry("qwen2", "qwen2"),
          Map.entry("qwen3", "qwen3"),
          Map.entry("gemma2", "gemma2"),
          Map.entry("gemma3_text", "gemma3"),
          Map.entry("phi3", "phi3"),
          Map.entry("glm4", "glm4"),
          Map.entry("cohere2", "cohere2"),
          Map.entry("olmo2", "olmo2"),
          Map.entry("olmo3", "olmo2"),
          Map.entry("exaone4", "exaone4"),
          Map.entry("granite", "granite"),
          Map.entry("smollm3", "smollm3"),
          Map.entry("mixtral", "llama"),
          Map.entry("qwen2_moe", "qwen2moe"),
          Map.entry("qwen3_moe", "qwen3moe"),
          Map.entry("deepseek_v2", "deepseek2"),
          Map.entry("deepseek_v3", "deepseek2"),
          Map.entry("glm4_moe", "glm4moe"),
          Map.entry("gpt_oss", "gpt-oss"));

  private static final Map<String, String> NAMES =
      Map.ofEntries(
          Map.entry("model.embed_tokens", "token_embd"),
          Map.entry("model.norm", "output_norm"),
          Map.entry("lm_head", "output"),
          Map.entry("input_layernorm", "attn_norm"),
          Map.entry("self_attn.q_proj", "attn_q"),
          Map.entry("self_attn.k_proj", "attn_k"),
          Map.entry("self_attn.v_proj", "attn_v"),
          Map.entry("self_attn.qkv_proj", "attn_qkv"),
          Map.entry("self_attn.o_proj", "attn_output"),
          Map.entry("self_attn.q_norm", "attn_q_norm"),
          Map.entry("self_attn.k_norm", "attn_k_norm"),
          Map.entry("post_self_attn_layernorm", "post_attention_norm"),
          Map.entry("post_mlp_layernorm", "post_ffw_norm"),
          Map.entry("pre_feedforward_layernorm", "ffn_norm"),
          Map.entry("post_feedforward_layernorm", "post_ffw_norm"),
          Map.entry("mlp.gate_proj", "ffn_gate"),
          Map.entry("mlp.up_proj", "ffn_up"),
          Map.entry("mlp.gate_up_proj", "ffn_up"),
          Map.entry("mlp.down_proj", "ffn_down"),
          Map.entry("self_attn.q_a_proj", "attn_q_a"),
          Map.entry("self_attn.q_a_layernorm", "attn_q_a_norm"),
          Map.entry("self_attn.q_b_proj", "attn_q_b"),
          Map.entry("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
          Map.entry("self_attn.kv_a_layernorm", "attn_kv_a_norm"),
          Map.entry("self_attn.kv_b_proj", "attn_kv_b"),
          Map.entry("mlp.gate", "ffn_gate_inp"),
          Map.entry("mlp.router", "ffn_gate_inp"),
          Map.entry("block_sparse_moe.gate", "ffn_gate_inp"),
          Map.entry("mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
          Map.entry("mlp.shared_expert.up_proj", "ffn_up_shexp"),
          Map.entry("mlp.shared_expert.down_proj", "ffn_down_shexp"),
          Map.entry("mlp.shared_experts.gate_proj", "ffn_gate_shexp"),
          Map.entry("mlp.shared_experts.up_proj", "ffn_up_shexp"),
          Map.entry("mlp.shared_experts.down_proj", "ffn_down_shexp"));

  private static final Map<String, String> PRE_TOKENIZERS =
      Map.of(
          "qwen2", "qwen2",
          "qwen3", "qwen2",
          "cohere2", "command-r",
          "granite", "refact",
          "exaone4", "exaone4",
          "olmo2", "dbrx",
          "glm4", "glm4",
          "mistral3", "tekken");

  private static final Pattern BLOCK = Pattern.compile("model\\.layers\\.(\\d+)\\.(.*)");
  private static final Map<String, Integer> TYPES = Map.of("F32", 0, "F16", 1, "BF16", 30);

  private final Path directory;
  private final JsonNode config;
  private final String architecture;
  private final GgufBuilder builder = new GgufBuilder();

  private final GgufMixtureConversion mixture;

  private GgufConversion(Path directory, boolean older) throws IOException {
    this.directory = directory;
    config = read("config.json");
    architecture = ARCHITECTURES.get(config.get("model_type").textValue());
    mixture = new GgufMixtureConversion(config, architecture, builder, older);
  }

  /** Writes the file; matrices keep their type, vectors are F32. */
  public static Path convert(Path directory, Path target) throws IOException {
    return convert(directory).write(target);
  }

  /** Writes a file as converters of before 2025 did: without what was added to the format since. */
  public static Path convertAsBefore(Path directory, Path target) throws IOException {
    return new GgufConversion(directory, true).convert().write(target);
  }

  /** Writes a file that has the gate and up projections of all experts in one tensor. */
  public static Path convertJoined(Path directory, Path target) throws IOException {
    return convert(directory).joinGatesOfExperts().write(target);
  }

  /** The same file, for tests that change it before they write it. */
  static GgufBuilder convert(Path directory) throws IOException {
    return new GgufConversion(directory, false).convert();
  }

  private GgufBuilder convert() throws IOException {
    builder.metadata.put("general.architecture", architecture);
    sizes();
    JsonNode rope = rope();
    scaling(rope);
    windows();
    factors();
    mixture.keys(rope);
    tensors();
    mixture.finish();
    divisors(rope);
    tokenizer();
    return builder;
  }

  private void sizes() {
    put("block_count", config.get("num_hidden_layers"));
    put("context_length", config.get("max_position_embeddings"));
    put("embedding_length", config.get("hidden_size"));
    put("feed_forward_length", config.get("intermediate_size"));
    put("attention.head_count", config.get("num_attention_heads"));
    put("attention.head_count_kv", config.get("num_key_value_heads"));
    put("vocab_size", config.get("vocab_size"));
    put("attention.layer_norm_rms_epsilon", real("rms_norm_eps"));
    put("attention.layer_norm_epsilon", real("layer_norm_eps"));
    // The converter of granite and phi3 has no width of heads.
    if (!List.of("granite", "phi3").contains(architecture)) {
      put("attention.key_length", config.get("head_dim"));
      put("attention.value_length", config.get("head_dim"));
    }
    if (!architecture.startsWith("qwen") && !architecture.startsWith("gemma")) {
      double part = config.path("partial_rotary_factor").asDouble(1);
      put("rope.dimension_count", (int) (headDim() * part));
    }
  }

  private int headDim() {
    int heads = config.get("num_attention_heads").intValue();
    return config.path("head_dim").asInt(config.get("hidden_size").intValue() / heads);
  }

  /** The parameters of full layers, with the base among them. */
  private JsonNode rope() {
    JsonNode parameters = config.path("rope_parameters");
    if (!parameters.isObject()) {
      parameters = config.path("rope_scaling");
    }
    if (parameters.has("full_attention")) {
      parameters = parameters.get("full_attention");
    }
    ObjectNode rope = new ObjectMapper().createObjectNode();
    if (parameters.isObject()) {
      rope.setAll((ObjectNode) parameters);
    }
    if (!rope.has("rope_theta")) {
      rope.set("rope_theta", config.get("rope_theta"));
    }
    return rope;
  }

  private void scaling(JsonNode rope) {
    put("rope.freq_base", (float) rope.get("rope_theta").asDouble());
    if (config.has("rope_local_base_freq")) {
      put("rope.freq_base_swa", real("rope_local_base_freq"));
    }
    String kind = rope.path("rope_type").asText(rope.path("type").asText("none"));
    if (kind.equals("linear") || kind.equals("yarn")) {
      put("rope.scaling.type", kind);
      put("rope.scaling.factor", (float) rope.get("factor").asDouble());
    }
    if (kind.equals("yarn")) {
      put("rope.scaling.original_context_length", rope.get("original_max_position_embeddings"));
      for (String name : List.of("beta_fast", "beta_slow")) {
        put("rope.scaling.yarn_" + name, real(rope.path(name)));
      }
      put("rope.scaling.yarn_attn_factor", real(rope.path("attention_factor")));
    }
    if (architecture.equals("mistral3")) {
      put("rope.scaling.yarn_log_multiplier", real(rope.get("mscale_all_dim")));
      put("attention.temperature_scale", real(rope.get("llama_4_scaling_beta")));
    }
    if (architecture.equals("phi3")) {
      int original = config.get("original_max_position_embeddings").intValue();
      double scale = config.get("max_position_embeddings").doubleValue() / original;
      put("rope.scaling.original_context_length", original);
      if (rope.has("long_factor")) {
        double factor = scale > 1 ? Math.sqrt(1 + Math.log(scale) / Math.log(original)) : 1;
        put("rope.scaling.attn_factor", (float) factor);
      }
    }
    if (architecture.equals("cohere2")) {
      put("rope.scaling.type", "none");
    }
  }

  private void windows() {
    boolean asked = config.path("use_sliding_window").asBoolean(true);
    if (!config.path("sliding_window").isInt() || !asked) {
      return;
    }
    put("attention.sliding_window", config.get("sliding_window"));
    List<Boolean> pattern = new ArrayList<>();
    if (config.has("layer_types") && !architecture.equals("gpt-oss")) {
      config
          .get("layer_types")
          .forEach(type -> pattern.add(type.asText().equals("sliding_attention")));
      put("attention.sliding_window_pattern", pattern);
    } else if (config.path("sliding_window_pattern").isInt()) {
      put("attention.sliding_window_pattern", config.get("sliding_window_pattern"));
    }
  }

  private void factors() {
    put("attn_logit_softcapping", real("attn_logit_softcapping"));
    put("final_logit_softcapping", real("final_logit_softcapping"));
    put("logit_scale", real(architecture.equals("granite") ? "logits_scaling" : "logit_scale"));
    put("attention.scale", real("attention_multiplier"));
    put("embedding_scale", real("embedding_multiplier"));
    put("residual_scale", real("residual_multiplier"));
  }

  private void tensors() throws IOException {
    Path file = directory.resolve("model.safetensors");
    try (FileChannel channel = FileChannel.open(file)) {
      byte[] bytes = Files.readAllBytes(file);
      SafetensorsFile.read(file, channel)
          .tensors()
          .forEach(
              (name, entry) -> {
                int from = (int) entry.position();
                ByteBuffer data =
                    ByteBuffer.wrap(bytes, from, (int) entry.bytes())
                        .slice()
                        .order(ByteOrder.LITTLE_ENDIAN);
                tensor(name, entry.type(), entry.shape(), data);
              });
    }
  }

  private void tensor(String name, String type, long[] shape, ByteBuffer data) {
    if (mixture.accept(name, TYPES.getOrDefault(type, -1), shape, copy(data.duplicate()))) {
      return;
    }
    boolean vector = shape.length == 1;
    byte[] content = vector ? floats(type, data, shift(name)) : copy(data);
    if (permutes() && name.matches(".*[qk]_proj\\.(weight|bias)")) {
      boolean query = name.contains("q_proj");
      int heads = config.get(query ? "num_attention_heads" : "num_key_value_heads").intValue();
      content = neighbours(content, heads, (int) shape[0]);
    }
    long[] dimensions = vector ? shape : new long[] {shape[1], shape[0]};
    builder.tensor(name(name), vector ? 0 : TYPES.get(type), content, dimensions);
  }

  private String name(String name) {
    int end = name.lastIndexOf('.');
    String suffix = name.substring(end);
    Matcher block = BLOCK.matcher(name.substring(0, end));
    if (!block.matches()) {
      return NAMES.get(name.substring(0, end)) + suffix;
    }
    String part = block.group(2);
    boolean after =
        List.of("gemma2", "gemma3", "olmo2", "exaone4", "glm4moe", "gpt-oss")
            .contains(architecture);
    String ours =
        part.equals("post_attention_layernorm")
            ? after ? "post_attention_norm" : "ffn_norm"
            : NAMES.get(part);
    return "blk." + block.group(1) + "." + ours + suffix;
  }

  private float shift(String name) {
    return architecture.startsWith("gemma") && name.endsWith("norm.weight") ? 1 : 0;
  }

  private boolean permutes() {
    return List.of("llama", "mistral3", "granite", "smollm3").contains(architecture);
  }

  /** Brings the halves of each head's rows together in pairs. */
  private static byte[] neighbours(byte[] rows, int heads, int count) {
    int rowBytes = rows.length / count;
    int width = count / heads;
    byte[] permuted = new byte[rows.length];
    for (int row = 0; row < count; row++) {
      int within = row % width;
      int target = row - within + within % (width / 2) * 2 + within / (width / 2);
      System.arraycopy(rows, row * rowBytes, permuted, target * rowBytes, rowBytes);
    }
    return permuted;
  }

  private static byte[] copy(ByteBuffer data) {
    byte[] bytes = new byte[data.remaining()];
    data.get(bytes);
    return bytes;
  }

  static ByteBuffer little(byte[] data) {
    return ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
  }

  static byte[] floats(String type, ByteBuffer data, float shift) {
    int size = type.equals("F32") ? 4 : 2;
    ByteBuffer floats =
        ByteBuffer.allocate(data.remaining() / size * 4).order(ByteOrder.LITTLE_ENDIAN);
    while (data.hasRemaining()) {
      float value = size == 4 ? data.getFloat() : Float.intBitsToFloat(data.getShort() << 16);
      floats.putFloat(value + shift);
    }
    return floats.array();
  }

  private void divisors(JsonNode rope) {
    if (rope.path("rope_type").asText().equals("llama3")) {
      builder.tensor("rope_freqs.weight", 0, llama3(rope), headDim() / 2);
    }
    if (rope.has("long_factor")) {
      for (String length : List.of("long", "short")) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * rope.get("long_factor").size());
        rope.get(length + "_factor")
            .forEach(value -> bytes.order(ByteOrder.LITTLE_ENDIAN).putFloat(value.floatValue()));
        String name = "rope_factors_" + length + ".weight";
        builder.tensor(name, 0, bytes.array(), bytes.capacity() / 4);
      }
    }
  }

  private byte[] llama3(JsonNode rope) {
    int width = headDim();
    double factor = rope.get("factor").doubleValue();
    double low = rope.get("low_freq_factor").doubleValue();
    double high = rope.get("high_freq_factor").doubleValue();
    double original = rope.get("original_max_position_embeddings").doubleValue();
    ByteBuffer bytes = ByteBuffer.allocate(2 * width).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < width; i += 2) {
      double frequency = Math.pow(rope.get("rope_theta").doubleValue(), -(double) i / width);
      double turns = original * frequency / (2 * Math.PI);
      double smooth = Math.min(1, Math.max(0, (turns - low) / (high - low)));
      bytes.putFloat((float) (1 / ((1 - smooth) / factor + smooth)));
    }
    return bytes.array();
  }

  /**
   * Tokens, kinds and merges of {@code tokenizer.json}; scores, too, where bytes are a fallback.
   */
  private void tokenizer() throws IOException {
    if (!Files.exists(directory.resolve("tokenizer.json"))) {
      return;
    }
    JsonNode json = read("tokenizer.json");
    JsonNode model = json.get("model");
    TreeMap<Integer, String> tokens = new TreeMap<>();
    Map<Integer, Integer> kinds = new HashMap<>();
    model
        .get("vocab")
        .properties()
        .forEach(token -> tokens.put(token.getValue().intValue(), token.getKey()));
    for (JsonNode added : json.get("added_tokens")) {
      tokens.put(added.get("id").intValue(), added.get("content").textValue());
      kinds.put(added.get("id").intValue(), added.get("special").booleanValue() ? 3 : 4);
    }
    List<String> merges = new ArrayList<>();
    for (JsonNode merge : model.get("merges")) {
      merges.add(
          merge.isTextual()
              ? merge.textValue()
              : merge.path(0).asText() + " " + merge.path(1).asText());
    }
    boolean bytes = model.path("byte_fallback").asBoolean();
    List<String> names = new ArrayList<>();
    List<Integer> types = new ArrayList<>();
    for (int id = 0; id <= tokens.lastKey(); id++) {
      String token = tokens.get(id);
      boolean isByte = bytes && token != null && token.matches("<0x[0-9A-F]{2}>");
      names.add(token == null ? "[PAD" + id + "]" : token);
      types.add(token == null ? 5 : kinds.getOrDefault(id, isByte ? 6 : 1));
    }
    Map<String, Object> metadata = builder.metadata;
    metadata.put("tokenizer.ggml.model", bytes ? "llama" : "gpt2");
    metadata.put("tokenizer.ggml.tokens", names);
    metadata.put("tokenizer.ggml.token_type", types);
    if (bytes) {
      metadata.put("tokenizer.ggml.scores", scores(names, merges));
      boolean prefix = json.path("normalizer").toString().contains("Prepend");
      metadata.put("tokenizer.ggml.add_space_prefix", prefix);
    } else {
      metadata.put("tokenizer.ggml.pre", PRE_TOKENIZERS.getOrDefault(architecture, "llama-bpe"));
      metadata.put("tokenizer.ggml.merges", merges);
    }
    metadata.put("tokenizer.ggml.add_bos_token", false);
    for (String name : List.of("bos", "eos")) {
      if (config.path(name + "_token_id").isInt()) {
        int id = config.get(name + "_token_id").intValue();
        metadata.put("tokenizer.ggml." + name + "_token_id", id);
      }
    }
    if (Files.exists(directory.resolve("tokenizer_config.json"))) {
      JsonNode template = read("tokenizer_config.json").path("chat_template");
      if (template.isTextual()) {
        metadata.put("tokenizer.chat_template", template.textValue());
      }
    }
  }

  /** A token that an earlier merge makes has a higher score. */
  private static List<Float> scores(List<String> tokens, List<String> merges) {
    Map<String, Integer> ranks = new HashMap<>();
    for (String merge : merges) {
      ranks.putIfAbsent(merge.replace(" ", ""), ranks.size());
    }
    return tokens.stream().map(token -> -(float) ranks.getOrDefault(token, 0)).toList();
  }

  private JsonNode read(String name) throws IOException {
    return new ObjectMapper().readTree(directory.resolve(name).toFile());
  }

  private Float real(String field) {
    return real(config.path(field));
  }

  private static Float real(JsonNode value) {
    return value.isNumber() ? (Float) value.floatValue() : null;
  }

  /** Adds a key of the architecture unless there is nothing to say. */
  private void put(String name, Object value) {
    if (value instanceof JsonNode node) {
      value = node.isNull() ? null : (Object) node.intValue();
    }
    if (value != null) {
      builder.metadata.put(architecture + "." + name, value);
    }
  }
}
