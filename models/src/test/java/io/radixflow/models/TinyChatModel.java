package io.radixflow.models;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Random;

/**
 * A tiny random llama that chats, as a Hugging Face directory: a token a byte, heads of 64 elements
 * so that a GPU takes it, too. What it says means nothing and is the same on every machine.
 */
public final class TinyChatModel {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String END = "<|im_end|>";
  private static final List<String> SPECIAL = List.of("<|im_start|>", END);
  private static final int VOCAB = 264;
  private static final int HIDDEN = 72;
  private static final int INTERMEDIATE = 104;
  private static final int LAYERS = 2;
  private static final int HEADS = 2;
  private static final int HEAD_DIM = 64;
  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

  private final Random random;
  private final ObjectNode header = JSON.createObjectNode();
  private final ByteArrayOutputStream data = new ByteArrayOutputStream();

  private TinyChatModel(long seed) {
    random = new Random(seed);
  }

  /** Writes the model's files into a directory, which is made if need be, and returns it. */
  public static Path write(Path directory) throws IOException {
    return write(directory, 5);
  }

  /** Writes the model with weights that a seed decides. */
  public static Path write(Path directory, long seed) throws IOException {
    Files.createDirectories(directory);
    write(directory, "config.json", config());
    write(directory, "tokenizer.json", tokenizer());
    write(
        directory,
        "tokenizer_config.json",
        JSON.createObjectNode().put("eos_token", END).put("chat_template", TEMPLATE));
    Files.write(directory.resolve("model.safetensors"), new TinyChatModel(seed).weights());
    return directory;
  }

  /**
   * Writes a model of another architecture with this tokenizer and template; its weights are those
   * of {@code architectures/README.md}.
   */
  public static Path write(Path directory, String architecture) throws IOException {
    write(directory);
    String resources = "/architectures/" + architecture + "/";
    try (InputStream in = TinyChatModel.class.getResourceAsStream(resources + "config.json")) {
      ObjectNode config = (ObjectNode) JSON.readTree(in);
      write(directory, "config.json", config.put("eos_token_id", 256 + SPECIAL.indexOf(END)));
    }
    String weights = "model.safetensors";
    try (InputStream in = TinyChatModel.class.getResourceAsStream(resources + weights)) {
      Files.copy(in, directory.resolve(weights), StandardCopyOption.REPLACE_EXISTING);
    }
    return directory;
  }

  private static void write(Path directory, String name, ObjectNode json) throws IOException {
    Files.write(directory.resolve(name), JSON.writeValueAsBytes(json));
  }

  private static ObjectNode config() {
    ObjectNode config = JSON.createObjectNode().put("model_type", "llama");
    config.putArray("architectures").add("LlamaForCausalLM");
    return config
        .put("vocab_size", VOCAB)
        .put("hidden_size", HIDDEN)
        .put("intermediate_size", INTERMEDIATE)
        .put("num_hidden_layers", LAYERS)
        .put("num_attention_heads", HEADS)
        .put("num_key_value_heads", 1)
        .put("head_dim", HEAD_DIM)
        .put("max_position_embeddings", 1024)
        .put("rms_norm_eps", 1e-5)
        .put("rope_theta", 10000.0)
        .put("hidden_act", "silu")
        .put("tie_word_embeddings", true);
  }

  private static ObjectNode tokenizer() {
    ObjectNode root = JSON.createObjectNode().put("version", "1.0");
    for (String token : SPECIAL) {
      root.withArray("added_tokens")
          .addObject()
          .put("id", 256 + SPECIAL.indexOf(token))
          .put("content", token)
          .put("special", true);
    }
    root.putObject("pre_tokenizer")
        .put("type", "ByteLevel")
        .put("add_prefix_space", false)
        .put("use_regex", true);
    root.putObject("decoder").put("type", "ByteLevel");
    ObjectNode model = root.putObject("model").put("type", "BPE");
    model.putArray("merges");
    ObjectNode vocab = model.putObject("vocab");
    int unprintable = 256;
    for (int value = 0; value < 256; value++) {
      boolean printable = value > 32 && value < 127 || value > 160 && value != 173;
      vocab.put(String.valueOf((char) (printable ? value : unprintable++)), value);
    }
    SPECIAL.forEach(token -> vocab.put(token, 256 + SPECIAL.indexOf(token)));
    return root;
  }

  private byte[] weights() throws IOException {
    int queries = HEADS * HEAD_DIM;
    tensor("model.embed_tokens.weight", VOCAB, HIDDEN);
    tensor("model.norm.weight", HIDDEN);
    for (int layer = 0; layer < LAYERS; layer++) {
      String prefix = "model.layers." + layer + ".";
      tensor(prefix + "input_layernorm.weight", HIDDEN);
      tensor(prefix + "self_attn.q_proj.weight", queries, HIDDEN);
      tensor(prefix + "self_attn.k_proj.weight", HEAD_DIM, HIDDEN);
      tensor(prefix + "self_attn.v_proj.weight", HEAD_DIM, HIDDEN);
      tensor(prefix + "self_attn.o_proj.weight", HIDDEN, queries);
      tensor(prefix + "post_attention_layernorm.weight", HIDDEN);
      tensor(prefix + "mlp.gate_proj.weight", INTERMEDIATE, HIDDEN);
      tensor(prefix + "mlp.up_proj.weight", INTERMEDIATE, HIDDEN);
      tensor(prefix + "mlp.down_proj.weight", HIDDEN, INTERMEDIATE);
    }
    byte[] head = JSON.writeValueAsBytes(header);
    return ByteBuffer.allocate(Long.BYTES + head.length + data.size())
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(head.length)
        .put(head)
        .put(data.toByteArray())
        .array();
  }

  /** Random bf16: vectors around 1, matrices around 0. */
  private void tensor(String name, int... shape) {
    int elements = 1;
    for (int extent : shape) {
      elements *= extent;
    }
    boolean vector = shape.length == 1;
    double size = vector ? 0.3 : 3 / Math.sqrt(shape[1]);
    ByteBuffer bytes = ByteBuffer.allocate(2 * elements).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < elements; i++) {
      float value = (float) ((vector ? 1 : 0) + size * (2 * random.nextDouble() - 1));
      bytes.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
    }
    ObjectNode entry = header.putObject(name).put("dtype", "BF16");
    for (int extent : shape) {
      entry.withArray("shape").add(extent);
    }
    entry.putArray("data_offsets").add(data.size()).add(data.size() + bytes.capacity());
    data.writeBytes(bytes.array());
  }
}
