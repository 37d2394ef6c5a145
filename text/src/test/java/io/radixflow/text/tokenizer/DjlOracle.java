package io.radixflow.text.tokenizer;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.file.format.GgufMetadata;
import io.radixflow.text.pretokenizer.NamedPreTokenizers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Hugging Face's own tokenizer as an oracle, and the {@code tokenizer.json} files to feed it. */
public final class DjlOracle {

  public static final ObjectMapper JSON = new ObjectMapper();

  private static final String GPT2 =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  private static final String LLAMA3 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  private static final Map<String, List<String>> PATTERNS =
      Map.of(
          "gpt-2", List.of(GPT2),
          "smollm", List.of("\\p{N}", GPT2),
          "refact", List.of("\\p{N}", GPT2),
          "starcoder", List.of("\\p{N}", GPT2),
          "llama-bpe", List.of(LLAMA3),
          "qwen2", List.of(LLAMA3.replace("{1,3}", "")));

  private final HuggingFaceTokenizer tokenizer;

  public DjlOracle(ObjectNode tokenizerJson) {
    try {
      tokenizer =
          HuggingFaceTokenizer.newInstance(
              new ByteArrayInputStream(JSON.writeValueAsBytes(tokenizerJson)),
              Map.of("addSpecialTokens", "false", "modelMaxLength", "100000000"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ids with added tokens recognised. */
  public int[] encode(String text) {
    return Arrays.stream(tokenizer.encode(text, false, false).getIds())
        .mapToInt(id -> (int) id)
        .toArray();
  }

  /** A byte-level {@code tokenizer.json} of a GGUF vocabulary. */
  public static ObjectNode byteLevelJson(GgufMetadata metadata, boolean addedTokens) {
    String pre = metadata.string("tokenizer.ggml.pre");
    List<String> tokens = metadata.strings("tokenizer.ggml.tokens");
    ObjectNode root = JSON.createObjectNode().put("version", "1.0");
    ArrayNode added = root.putArray("added_tokens");
    int[] types = metadata.integers("tokenizer.ggml.token_type");
    for (int id = 0; addedTokens && id < types.length; id++) {
      if (types[id] == 3 || types[id] == 4) {
        addToken(added, id, tokens.get(id), types[id] == 3);
      }
    }
    if (NamedPreTokenizers.composes(pre)) {
      root.putObject("normalizer").put("type", "NFC");
    } else {
      root.putNull("normalizer");
    }
    ArrayNode steps =
        root.putObject("pre_tokenizer").put("type", "Sequence").putArray("pretokenizers");
    for (String regex : PATTERNS.get(pre)) {
      ObjectNode split = steps.addObject().put("type", "Split");
      split.putObject("pattern").put("Regex", regex);
      split.put("behavior", "Isolated").put("invert", false);
    }
    steps
        .addObject()
        .put("type", "ByteLevel")
        .put("add_prefix_space", false)
        .put("trim_offsets", true)
        .put("use_regex", false);
    root.putNull("post_processor")
        .putObject("decoder")
        .put("type", "ByteLevel")
        .put("add_prefix_space", true)
        .put("trim_offsets", true)
        .put("use_regex", true);
    ObjectNode model = model(root, pre.equals("llama-bpe"), false);
    ObjectNode vocab = model.putObject("vocab");
    for (int id = 0; id < tokens.size(); id++) {
      vocab.put(tokens.get(id), id);
    }
    ArrayNode merges = model.putArray("merges");
    metadata.strings("tokenizer.ggml.merges").forEach(merges::add);
    return root;
  }

  static void addToken(ArrayNode added, int id, String text, boolean special) {
    added
        .addObject()
        .put("id", id)
        .put("content", text)
        .put("single_word", false)
        .put("lstrip", false)
        .put("rstrip", false)
        .put("normalized", false)
        .put("special", special);
  }

  static ObjectNode model(ObjectNode root, boolean ignoreMerges, boolean byteFallback) {
    ObjectNode model = root.putObject("model").put("type", "BPE");
    model
        .putNull("dropout")
        .putNull("unk_token")
        .putNull("continuing_subword_prefix")
        .putNull("end_of_word_suffix");
    return model
        .put("fuse_unk", false)
        .put("byte_fallback", byteFallback)
        .put("ignore_merges", ignoreMerges);
  }
}
