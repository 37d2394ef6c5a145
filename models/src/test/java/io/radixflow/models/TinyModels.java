package io.radixflow.models;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Tiny random models with reference logits made by transformers; {@code tiny/README.md} describes
 * them.
 */
public final class TinyModels {

  /** Hugging Face directories. */
  public static final List<String> DIRECTORIES =
      List.of("llama", "llama3", "mistral", "qwen2", "qwen3");

  /** GGUF files. */
  public static final List<String> GGUF =
      List.of(
          "llama-f16",
          "llama3-bf16",
          "llama-q8_0",
          "llama-q4_0",
          "llama-q4_1",
          "llama-k",
          "qwen2-q8_0",
          "qwen3-f16");

  /**
   * A sequence and what the model says to it.
   *
   * @param ids tokens
   * @param positions places in {@code ids}
   * @param logits for each position, the logits of the token after it
   */
  public record Case(int[] ids, int[] positions, float[][] logits) {}

  private TinyModels() {}

  /** Path of a model by its name in {@link #DIRECTORIES} or {@link #GGUF}. */
  public static Path path(String name) {
    return root().resolve(DIRECTORIES.contains(name) ? name : "gguf/" + name + ".gguf");
  }

  /** The reference logits of a model. */
  public static List<Case> cases(String name) throws IOException {
    boolean directory = DIRECTORIES.contains(name);
    Path file =
        root().resolve(directory ? name + "/reference.json" : "gguf/" + name + ".reference.json");
    ObjectMapper mapper = new ObjectMapper();
    List<Case> cases = new ArrayList<>();
    for (JsonNode node : mapper.readTree(Files.readString(file)).get("cases")) {
      cases.add(
          new Case(
              mapper.convertValue(node.get("ids"), int[].class),
              mapper.convertValue(node.get("positions"), int[].class),
              mapper.convertValue(node.get("logits"), float[][].class)));
    }
    return cases;
  }

  private static Path root() {
    return ResourceFolder.of("/tiny");
  }
}
