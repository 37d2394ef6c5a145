package io.radixflow.text.tokenizer;

import io.radixflow.models.file.format.GgufMetadata;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/** A small byte-level vocabulary, trained on a few lines when first asked for. */
public final class TinyVocabulary {

  private static final String SAMPLE =
      "The kettle clicked off before anyone remembered the tea. don't can't we'll I've you're it's "
          + "WE'LL  THE  12345 678 3.14 \n\n\t\tif (x == 0) {\n    return x;\n    }\r\n"
          + "naïve café über straße наша книга читает 日本語の本を読む 한국어 नमस्ते 🙂🙂 👍🏽 --- ... !!! "
          + "aaaa aaaaaaaa          \u00a0\u3000 ½ Ⅷ ٣ ١٢ e\u0301 ";

  private static final int MERGES = 150;

  private static TinyVocabulary instance;

  public final List<String> tokens = new ArrayList<>();
  public final List<String> merges = new ArrayList<>();
  final List<Long> types = new ArrayList<>();

  private TinyVocabulary() {
    for (String special : List.of("<|end|>", "<|start|>", "<think>")) {
      tokens.add(special);
      types.add(special.startsWith("<|") ? 3L : 4L);
    }
    for (int b = 0; b < 256; b++) {
      tokens.add(String.valueOf(ByteAlphabet.charOf(b)));
    }
    train();
    types.addAll(Collections.nCopies(tokens.size() - types.size(), 1L));
  }

  public static synchronized TinyVocabulary get() {
    if (instance == null) {
      instance = new TinyVocabulary();
    }
    return instance;
  }

  /** The vocabulary as GGUF metadata. */
  public GgufMetadata metadata(String pre) {
    return header(pre).metadata();
  }

  /** The vocabulary as metadata that a test changes. */
  public GgufHeader header(String pre) {
    return new GgufHeader()
        .with("tokenizer.ggml.model", "gpt2")
        .with("tokenizer.ggml.pre", pre)
        .with("tokenizer.ggml.tokens", tokens)
        .with("tokenizer.ggml.token_type", types)
        .with("tokenizer.ggml.merges", merges)
        .with("tokenizer.ggml.eos_token_id", 0L);
  }

  private void train() {
    List<String> symbols = new ArrayList<>();
    for (byte b : SAMPLE.getBytes(StandardCharsets.UTF_8)) {
      symbols.add(String.valueOf(ByteAlphabet.charOf(b & 0xFF)));
    }
    LinkedHashSet<String> known = new LinkedHashSet<>(tokens);
    while (merges.size() < MERGES) {
      String best = mostFrequentPair(symbols);
      merges.add(best);
      String merged = best.replace(" ", "");
      if (known.add(merged)) {
        tokens.add(merged);
      }
      merge(symbols, best, merged);
    }
  }

  private String mostFrequentPair(List<String> symbols) {
    Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i + 1 < symbols.size(); i++) {
      counts.merge(symbols.get(i) + " " + symbols.get(i + 1), 1, Integer::sum);
    }
    return counts.entrySet().stream()
        .filter(e -> !merges.contains(e.getKey()))
        .max(
            Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
        .orElseThrow()
        .getKey();
  }

  private static void merge(List<String> symbols, String pair, String merged) {
    for (int i = 0; i + 1 < symbols.size(); i++) {
      if ((symbols.get(i) + " " + symbols.get(i + 1)).equals(pair)) {
        symbols.set(i, merged);
        symbols.remove(i + 1);
      }
    }
  }
}
