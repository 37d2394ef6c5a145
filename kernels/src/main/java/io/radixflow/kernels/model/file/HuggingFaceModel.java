package io.radixflow.kernels.model.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.model.GraphTensors;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Opens a directory as the transformers library saves it: {@code config.json} and {@code
 * model.safetensors}, or several such files named by {@code model.safetensors.index.json}.
 */
final class HuggingFaceModel {
  private static final String SINGLE = "model.safetensors";
  private static final String INDEX = "model.safetensors.index.json";
  private static final int MAX_CONFIG_BYTES = 1 << 20;
  private static final int MAX_INDEX_BYTES = 1 << 24;
  private static final int MAX_FILES = 1024;

  private final Path directory;
  private final ModelConfig config;
  private final Map<String, GraphTensors.Shape> shapes = new HashMap<>();
  private final Map<String, Tensor> tensors = new HashMap<>();

  private HuggingFaceModel(Path directory) throws IOException {
    this.directory = directory;
    Path file = directory.resolve("config.json");
    JsonNode json = BoundedJson.object(file, MAX_CONFIG_BYTES);
    Path name = directory.toAbsolutePath().normalize().getFileName();
    config = HuggingFaceConfig.read(file.toString(), String.valueOf(name), json);
  }

  static ModelFile open(Path directory, Path home) throws IOException {
    return new HuggingFaceModel(directory).open(home);
  }

  private ModelFile open(Path home) throws IOException {
    Map<String, String> canonical = new HashMap<>();
    GraphTensors.of(config)
        .forEach(
            (name, shape) -> {
              shapes.put(name, shape);
              canonical.put(HuggingFaceNames.of(name), name);
            });
    List<Path> files = new ArrayList<>();
    files.add(directory.resolve("config.json").toRealPath());
    for (String file : files()) {
      files.add(map(directory.resolve(file), canonical).toRealPath());
    }
    for (String name : shapes.keySet()) {
      if (!tensors.containsKey(name)) {
        throw new ModelFormatException(
            directory + ": tensor " + HuggingFaceNames.of(name) + " is missing");
      }
    }
    ContentFingerprint fingerprint = new ContentFingerprint(files, home, Clock.systemUTC());
    return new ModelFile(directory, config, tensors, fingerprint, null);
  }

  private Set<String> files() throws IOException {
    Path index = directory.resolve(INDEX);
    if (!Files.exists(index)) {
      if (!Files.exists(directory.resolve(SINGLE))) {
        throw new ModelFormatException(
            directory + ": neither " + SINGLE + " nor " + INDEX + " is there");
      }
      return Set.of(SINGLE);
    }
    JsonNode map = BoundedJson.object(index, MAX_INDEX_BYTES).path("weight_map");
    Set<String> files = new TreeSet<>();
    for (JsonNode file : map) {
      String name = file.asText();
      if (!name.matches("[A-Za-z0-9_][A-Za-z0-9._-]{0,200}\\.safetensors")) {
        throw new ModelFormatException(
            String.format(
                "%s: weight_map: '%s' is not the name of a safetensors file",
                index, shortened(name)));
      }
      files.add(name);
    }
    if (files.isEmpty() || files.size() > MAX_FILES) {
      throw new ModelFormatException(
          String.format(
              "%s: weight_map names %s files; 1 to %s are possible",
              index, files.size(), MAX_FILES));
    }
    return files;
  }

  private static String shortened(String text) {
    return text.length() > 80 ? text.substring(0, 80) + "…" : text;
  }

  private Path map(Path file, Map<String, String> canonical) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      SafetensorsFile head = SafetensorsFile.read(file, channel);
      for (Map.Entry<String, SafetensorsFile.Entry> entry : head.tensors().entrySet()) {
        String name = canonical.get(entry.getKey());
        if (name == null) {
          ignore(file, entry.getKey());
          continue;
        }
        TensorSlot slot = slot(file + ": tensor " + entry.getKey(), name, entry.getValue());
        if (tensors.put(name, MappedTensor.map(channel, slot, MappedTensor.WINDOW_BYTES)) != null) {
          throw new ModelFormatException(
              directory + ": tensor " + entry.getKey() + " is in two files");
        }
      }
    }
    return file;
  }

  /** Some checkpoints keep a tied output matrix, or the frequencies that the graph computes. */
  private void ignore(Path file, String name) {
    boolean tied = config.tiedEmbedding() && name.equals("lm_head.weight");
    if (!tied && !name.endsWith(".rotary_emb.inv_freq")) {
      throw new ModelFormatException(
          String.format(
              "%s: tensor %s has no place in a %s graph of %s layers",
              file, name, config.architecture(), config.layers()));
    }
  }

  private TensorSlot slot(String where, String name, SafetensorsFile.Entry entry) {
    TensorType type =
        switch (entry.type()) {
          case "F32" -> TensorType.F32;
          case "F16" -> TensorType.F16;
          case "BF16" -> TensorType.BF16;
          default ->
              throw new ModelFormatException(
                  where + ": element type " + shortened(entry.type()) + " is not supported");
        };
    GraphTensors.Shape shape = shapes.get(name);
    long[] found = entry.shape();
    boolean fits =
        shape.vector()
            ? found.length == 1 && found[0] == shape.columns()
            : found.length == 2 && found[0] == shape.rows() && found[1] == shape.columns();
    if (!fits) {
      throw new ModelFormatException(
          where + " is " + Arrays.toString(found) + "; expected " + shape);
    }
    long bytes = (long) shape.rows() * shape.columns() * type.blockBytes();
    if (bytes != entry.bytes()) {
      throw new ModelFormatException(
          where + ": " + entry.bytes() + " bytes of data for its shape's " + bytes);
    }
    return new TensorSlot(name, type, shape.rows(), shape.columns(), entry.position());
  }
}
