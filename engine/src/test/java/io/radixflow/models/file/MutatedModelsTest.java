package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.TinyChatModel;
import io.radixflow.models.TinyModels;
import io.radixflow.text.TextModel;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damaged files of each format are refused with a message or loaded whole: no other failure, no
 * hang, and no memory beyond a bound. {@code -Dmodel.mutations=100000} damages more of them.
 */
@Timeout(value = 3, unit = TimeUnit.HOURS)
class MutatedModelsTest {
  private static final int CASES = Integer.getInteger("model.mutations", 1000);
  private static final long MOST_BYTES = 192 << 20;
  private static final DeviceOptions ONE_THREAD = new DeviceOptions("cpu", 1, null);
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final String LLAMA =
      """
      {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 64,
       "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
       "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096,
       "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
       "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
         "high_freq_factor": 4.0, "original_max_position_embeddings": 1024},
       "tie_word_embeddings": false}
      """;

  private static final String EXPERTS =
      """
      {"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 64,
       "hidden_size": 32, "intermediate_size": 48, "moe_intermediate_size": 16,
       "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
       "num_experts": 4, "num_experts_per_tok": 2, "norm_topk_prob": true,
       "decoder_sparse_step": 1, "mlp_only_layers": [], "max_position_embeddings": 4096,
       "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
       "tie_word_embeddings": true}
      """;

  private static final String UNIGRAM =
      """
      {"version": "1.0", "added_tokens": [
         {"id": 0, "content": "<unk>", "special": true, "lstrip": false, "rstrip": true,
          "single_word": false, "normalized": false},
         {"id": 1, "content": "</s>", "special": true}],
       "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"},
         {"type": "Replace", "pattern": {"String": "kk"}, "content": "k"}]},
       "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
         "split": true},
       "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
       "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
         "vocab": [["<unk>", 0.0], ["</s>", 0.0], ["▁", -2.0], ["t", -3.0], ["h", -3.5],
           ["e", -2.5], ["▁the", -4.0], ["he", -3.0], ["k", -6.5]]}}
      """;

  private static final String MERGES =
      """
      {"version": "1.0", "added_tokens": [{"id": 0, "content": "<s>", "special": true}],
       "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
         {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
       "pre_tokenizer": null,
       "decoder": {"type": "Sequence", "decoders": [
         {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
         {"type": "ByteFallback"}, {"type": "Fuse"},
         {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
       "model": {"type": "BPE", "unk_token": "<s>", "fuse_unk": true, "byte_fallback": true,
         "vocab": {"<s>": 0, "▁": 1, "t": 2, "h": 3, "e": 4, "th": 5, "the": 6, "▁the": 7,
           "<0x0A>": 8},
         "merges": ["t h", "th e", ["▁", "the"]]}}
      """;

  @TempDir Path directory;
  private int refused;

  /** A way to open a damaged file. */
  private interface Opening {
    void open() throws IOException;
  }

  @BeforeEach
  void compileWhatIsMeasured() throws IOException {
    Path whole = TinyDirectory.write(directory.resolve("whole"), LLAMA);
    load(whole);
  }

  private void load(Path path) {
    try (ModelFile model = ModelFile.open(path, directory.resolve("home"))) {
      CpuBackend.open(model, ONE_THREAD).close();
    }
  }

  /** Opens the file; a refusal has a message, and neither takes more than bounded memory. */
  private void check(String name, int number, Opening opening) throws IOException {
    long bytes = THREADS.getCurrentThreadAllocatedBytes();
    try {
      opening.open();
    } catch (ModelFormatException e) {
      refused++;
      assertThat(e.getMessage()).as("%s, mutation %d", name, number).isNotBlank();
    } catch (RuntimeException | Error e) {
      throw new AssertionError(name + ", mutation " + number + ": " + e, e);
    }
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - bytes)
        .as("bytes of %s, mutation %d", name, number)
        .isLessThan(MOST_BYTES);
  }

  /** Replaces a file by another one: whoever reads the old one reads on. */
  private static void replace(Path file, byte[] content) throws IOException {
    Path next = file.resolveSibling("next");
    Files.write(next, content);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  @Test
  void gguf() throws IOException {
    List<byte[]> wholes = new ArrayList<>();
    wholes.add(GgufBuilder.llama().bytes());
    wholes.add(quantised());
    wholes.add(experts());
    wholes.add(Files.readAllBytes(TinyModels.path("llama-k")));
    Path file = directory.resolve("model.gguf");
    for (byte[] whole : wholes) {
      replace(file, whole);
      load(file);
    }
    for (int number = 0; number < CASES; number++) {
      // The last one is ten times as large as the others.
      byte[] whole = wholes.get(number % 32 == 31 ? 3 : number % 3);
      replace(file, new Mutations(number).bytes(whole, 2000));
      check("GGUF", number, () -> load(file));
    }
    assertThat(refused).isBetween(CASES / 4, CASES - CASES / 50);
  }

  @Test
  void aConfigurationWithMoreTensorsThanAnyModelHasIsRefused() throws IOException {
    Path model = TinyDirectory.write(directory.resolve("experts"), EXPERTS);
    String config =
        EXPERTS
            .replace("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 4096")
            .replace("\"num_experts\": 4", "\"num_experts\": 4096");
    Files.writeString(model.resolve("config.json"), config);

    check(
        "config.json",
        0,
        () ->
            assertThatThrownBy(() -> load(model))
                .isInstanceOf(ModelFormatException.class)
                .hasMessageContaining("16781312 experts and heads in all layers; at most 65536"));
  }

  private static byte[] quantised() {
    byte[] q8 = new byte[32 * 34];
    byte[] q4 = new byte[64 * 18];
    for (int i = 0; i < q8.length; i++) {
      q8[i] = (byte) (i % 34 == 1 ? 0x2c : i % 34 == 0 ? 0 : i * 7);
    }
    for (int i = 0; i < q4.length; i++) {
      q4[i] = (byte) (i % 18 == 1 ? 0x2c : i % 18 == 0 ? 0 : i * 11);
    }
    return GgufBuilder.llama()
        .without("blk.0.attn_q.weight")
        .tensor("blk.0.attn_q.weight", 8, q8, 32, 32)
        .without("blk.0.ffn_up.weight")
        .tensor("blk.0.ffn_up.weight", 2, q4, 32, 64)
        .bytes();
  }

  private static byte[] experts() {
    return GgufBuilder.llama()
        .with("llama.expert_count", 4)
        .with("llama.expert_used_count", 2)
        .without("blk.0.ffn_gate.weight")
        .without("blk.0.ffn_up.weight")
        .without("blk.0.ffn_down.weight")
        .floats("blk.0.ffn_gate_inp.weight", 32, 4)
        .floats("blk.0.ffn_gate_exps.weight", 32, 64, 4)
        .floats("blk.0.ffn_up_exps.weight", 32, 64, 4)
        .floats("blk.0.ffn_down_exps.weight", 64, 32, 4)
        .bytes();
  }

  @Test
  void safetensors() throws IOException {
    List<Path> models = models();
    List<byte[]> wholes = new ArrayList<>();
    for (Path model : models) {
      wholes.add(Files.readAllBytes(model.resolve("model.safetensors")));
    }
    for (int number = 0; number < CASES; number++) {
      Path model = models.get(number % models.size());
      byte[] whole = wholes.get(number % models.size());
      replace(model.resolve("model.safetensors"), new Mutations(number).safetensors(whole));
      check("safetensors", number, () -> load(model));
    }
    assertThat(refused).isBetween(CASES / 4, CASES - CASES / 50);
  }

  private List<Path> models() throws IOException {
    return List.of(
        TinyDirectory.write(directory.resolve("llama"), LLAMA),
        TinyDirectory.write(directory.resolve("experts"), EXPERTS));
  }

  @Test
  void config() throws IOException {
    List<Path> models = models();
    List<byte[]> wholes =
        List.of(LLAMA.getBytes(StandardCharsets.UTF_8), EXPERTS.getBytes(StandardCharsets.UTF_8));
    for (int number = 0; number < CASES; number++) {
      Path model = models.get(number % models.size());
      byte[] whole = wholes.get(number % models.size());
      replace(model.resolve("config.json"), new Mutations(number).json(whole));
      check("config.json", number, () -> load(model));
    }
    assertThat(refused).isBetween(CASES / 4, CASES - CASES / 50);
  }

  @Test
  void tokenizer() throws IOException {
    Path model = TinyChatModel.write(directory.resolve("chat"));
    Path file = model.resolve("tokenizer.json");
    List<byte[]> wholes =
        List.of(
            Files.readAllBytes(file),
            UNIGRAM.getBytes(StandardCharsets.UTF_8),
            MERGES.getBytes(StandardCharsets.UTF_8));
    // Its tokens are one tokenizer's only.
    Files.writeString(model.resolve("tokenizer_config.json"), "{}");
    for (byte[] whole : wholes) {
      replace(file, whole);
      tokenize(model);
    }
    for (int number = 0; number < CASES; number++) {
      replace(file, new Mutations(number).json(wholes.get(number % wholes.size())));
      check("tokenizer.json", number, () -> tokenize(model));
    }
    assertThat(refused).isBetween(CASES / 8, CASES - CASES / 50);
  }

  private static void tokenize(Path model) {
    Tokenizer tokenizer = TextModel.fromDirectory(model).tokenizer();
    for (String text :
        List.of("the  kettle</s> <s>▁\n12345 é", " ".repeat(300), "aab".repeat(90))) {
      int[] ids = tokenizer.encodeWithSpecial(text);
      assertThat(Arrays.stream(ids).allMatch(id -> id >= 0 && id < tokenizer.vocabSize())).isTrue();
      for (int id : ids) {
        assertThat(tokenizer.bytes(id)).isNotNull();
      }
    }
  }
}
