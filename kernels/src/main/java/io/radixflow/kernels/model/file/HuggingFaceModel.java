package io.radixflow.kernels.model.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.tensor.HeapTensor;
import io.radixflow.kernels.model.tensor.MappedTensor;
import io.radixflow.kernels.model.tensor.StoredPart;
import io.radixflow.kernels.model.tensor.StridedTensor;
import io.radixflow.kernels.model.tensor.TensorSlot;
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
import java.util.stream.Collectors;

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
  private final HuggingFaceFamily family;

  /** The tensors of the graph that a stored tensor has, by its name. */
  private final Map<String, List<Map.Entry<String, StoredPart>>> places = new HashMap<>();

  private final Map<String, Tensor> tensors = new HashMap<>();

  /** Whether experts are in MXFP4; no other quantisation is accepted. */
  private final boolean packedExperts;

  private Mxfp4Experts experts;

  /** Whether layers behind the last are expected: they draft tokens. */
  private final boolean spareLayers;

  private HuggingFaceModel(Path directory) throws IOException {
    this.directory = directory;
    Path file = directory.resolve("config.json");
    JsonNode json = BoundedJson.object(file, MAX_CONFIG_BYTES);
    Path name = directory.toAbsolutePath().normalize().getFileName();
    config = HuggingFaceConfig.read(file.toString(), String.valueOf(name), json);
    family = HuggingFaceFamily.of(config.architecture(), new SupportedShapes(file.toString()));
    packedExperts = ConfigFields.present(json.path("quantization_config"));
    spareLayers = json.path("num_nextn_predict_layers").asInt(0) > 0;
  }

  static ModelFile open(Path directory, Path home) throws IOException {
    return new HuggingFaceModel(directory).open(home);
  }

  /** Says what a directory is: its architecture and quantisation, by its configuration. */
  static String summary(Path directory) throws IOException {
    JsonNode json = BoundedJson.object(directory.resolve("config.json"), MAX_CONFIG_BYTES);
    JsonNode quantised = json.path("quantization_config");
    return String.format(
        "Hugging Face directory, architecture %s%s",
        ModelFile.printable(json.path("model_type").asText("not named")),
        quantised.isObject()
            ? ", quantised with "
                + ModelFile.printable(quantised.path("quant_method").asText("an unnamed method"))
            : "");
  }

  private ModelFile open(Path home) throws IOException {
    Map<String, StoredPart> parts = HuggingFaceNames.of(config, family, packedExperts);
    experts = new Mxfp4Experts(parts);
    for (Map.Entry<String, StoredPart> part : parts.entrySet()) {
      places.computeIfAbsent(part.getValue().name(), name -> new ArrayList<>()).add(part);
    }
    List<Path> files = new ArrayList<>();
    files.add(directory.resolve("config.json").toRealPath());
    for (String file : files()) {
      files.add(map(directory.resolve(file)).toRealPath());
    }
    for (Map.Entry<String, StoredPart> part : parts.entrySet()) {
      if (!tensors.containsKey(part.getKey())) {
        throw new ModelFormatException(
            directory + ": tensor " + part.getValue().name() + " is missing");
      }
    }
    experts.map(directory, tensors);
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

  private Path map(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      SafetensorsFile head = SafetensorsFile.read(file, channel);
      for (Map.Entry<String, SafetensorsFile.Entry> entry : head.tensors().entrySet()) {
        if (experts.accept(file, entry.getKey(), entry.getValue())) {
          continue;
        }
        List<Map.Entry<String, StoredPart>> parts = places.get(entry.getKey());
        if (parts == null) {
          ignore(file, entry.getKey());
          continue;
        }
        String where = file + ": tensor " + entry.getKey();
        TensorType type = check(where, parts.get(0).getValue(), entry.getValue());
        for (Map.Entry<String, StoredPart> part : parts) {
          long position = entry.getValue().position();
          Tensor tensor = tensor(channel, part.getKey(), part.getValue(), type, position);
          if (tensors.put(part.getKey(), tensor) != null) {
            throw new ModelFormatException(
                directory + ": tensor " + entry.getKey() + " is in two files");
          }
        }
      }
    }
    return file;
  }

  /** Some checkpoints keep a tied output matrix, or the frequencies that the graph computes. */
  private void ignore(Path file, String name) {
    boolean tied = config.tiedEmbedding() && name.equals("lm_head.weight");
    boolean spare = spareLayers && name.startsWith("model.layers." + config.layers() + ".");
    if (!tied && !spare && !name.endsWith(".rotary_emb.inv_freq")) {
      throw new ModelFormatException(
          String.format(
              "%s: tensor %s has no place in a %s graph of %s layers",
              file, name, config.architecture(), config.layers()));
    }
  }

  private static TensorType check(String where, StoredPart part, SafetensorsFile.Entry entry) {
    TensorType type =
        switch (entry.type()) {
          case "F32" -> TensorType.F32;
          case "F16" -> TensorType.F16;
          case "BF16" -> TensorType.BF16;
          default ->
              throw new ModelFormatException(
                  where + ": element type " + shortened(entry.type()) + " is not supported");
        };
    if (!Arrays.equals(part.shape(), entry.shape())) {
      throw new ModelFormatException(
          String.format(
              "%s is %s; expected %s", where, Arrays.toString(entry.shape()), sizes(part.shape())));
    }
    long bytes = part.storedElements() * type.blockBytes();
    if (bytes != entry.bytes()) {
      throw new ModelFormatException(
          where + ": " + entry.bytes() + " bytes of data for its shape's " + bytes);
    }
    return type;
  }

  private static String sizes(long[] shape) {
    return Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(" x "));
  }

  private static Tensor tensor(
      FileChannel channel, String name, StoredPart part, TensorType type, long position)
      throws IOException {
    long first = position + part.place().offset() * type.blockBytes();
    if (!part.contiguous()) {
      int span = Math.toIntExact(part.span());
      TensorSlot slot = new TensorSlot(name, type, 1, span, first);
      return new StridedTensor(
          name, part, MappedTensor.map(channel, slot, MappedTensor.WINDOW_BYTES));
    }
    TensorSlot slot = new TensorSlot(name, type, part.rows(), part.columns(), first);
    Tensor mapped = MappedTensor.map(channel, slot, MappedTensor.WINDOW_BYTES);
    if (part.added() == 0) {
      return mapped;
    }
    float[] values = new float[part.columns()];
    mapped.dequantize(0, values, 0);
    for (int i = 0; i < values.length; i++) {
      values[i] += part.added();
    }
    return new HeapTensor(name, values);
  }
}
