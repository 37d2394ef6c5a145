package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.file.format.BoundedJson;
import io.radixflow.models.file.format.Checkpoint;
import io.radixflow.models.file.format.SafetensorsFile;
import io.radixflow.models.tensor.FileTensor;
import io.radixflow.models.tensor.HeapTensor;
import io.radixflow.models.tensor.StoredPart;
import io.radixflow.models.tensor.StridedTensor;
import io.radixflow.models.tensor.TensorSlot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Opens a directory in the format of the transformers library: {@code config.json} and the tensors
 * of a {@link Checkpoint}.
 */
final class HuggingFaceModel {
  private static final int MAX_CONFIG_BYTES = 1 << 20;

  private final Path directory;
  private final Checkpoint stored;
  private final ModelConfig config;
  private final HuggingFaceFamily family;
  private final Quantisation quantisation;

  /** Whether the model has extra layers after the last one, which draft tokens. */
  private final boolean spareLayers;

  /** Opens the weights if the configuration is supported. */
  private HuggingFaceModel(Path directory, JsonNode whole) throws IOException {
    this.directory = directory;
    JsonNode json = TextPart.config(whole);
    Path file = directory.resolve("config.json");
    Path name = directory.toAbsolutePath().normalize().getFileName();
    config = HuggingFaceConfig.read(file.toString(), String.valueOf(name), json);
    SupportedShapes check = new SupportedShapes(file.toString());
    family = HuggingFaceFamily.of(config.architecture(), check);
    quantisation = Quantisation.read(new ConfigFields(json, check), family);
    spareLayers = json.path("num_nextn_predict_layers").asInt(0) > 0;
    stored =
        Checkpoint.open(directory, json == whole ? UnaryOperator.identity() : TextPart::tensor);
  }

  static ModelFile open(Path directory, Path home) throws IOException {
    JsonNode json = BoundedJson.object(directory.resolve("config.json"), MAX_CONFIG_BYTES);
    HuggingFaceModel model = new HuggingFaceModel(directory, json);
    try {
      return model.open(home);
    } catch (IOException | RuntimeException | Error e) {
      model.stored.close();
      throw e;
    }
  }

  /** Describes a directory: its architecture and quantisation, from its configuration. */
  static String summary(Path directory) throws IOException {
    JsonNode json = BoundedJson.object(directory.resolve("config.json"), MAX_CONFIG_BYTES);
    JsonNode quantised = json.path("quantization_config");
    return String.format(
        "Hugging Face directory, architecture %s%s%s",
        ModelFormatException.printable(json.path("model_type").asText("not named")),
        TextPart.config(json) == json ? "" : ", only its text part",
        quantised.isObject() ? ", quantised with " + method(quantised) : "");
  }

  /** Bytes of the files in a directory. */
  static long bytes(Path directory) throws IOException {
    long bytes = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, Files::isRegularFile)) {
      for (Path file : files) {
        bytes += Files.size(file);
      }
    }
    return bytes;
  }

  /** The method, and the fields that distinguish its formats. */
  private static String method(JsonNode quantised) {
    StringBuilder text =
        new StringBuilder(
            ModelFormatException.printable(
                quantised.path("quant_method").asText("an unnamed method")));
    for (String field : List.of("format", "bits", "group_size", "weight_block_size", "desc_act")) {
      if (ConfigFields.present(quantised.path(field))) {
        JsonNode value = quantised.path(field);
        String shown = value.isTextual() ? value.textValue() : value.toString();
        text.append(", ").append(field).append(' ').append(ModelFormatException.printable(shown));
      }
    }
    return text.toString();
  }

  private ModelFile open(Path home) throws IOException {
    QuantisedWeights quantised = new QuantisedWeights(stored, quantisation);
    Map<String, Tensor> tensors = new HashMap<>();
    Map<String, StoredPart> parts = HuggingFaceNames.of(config, family, stored::has);
    for (Map.Entry<String, StoredPart> part : parts.entrySet()) {
      Tensor coded = quantised.tensor(part.getKey(), part.getValue());
      tensors.put(part.getKey(), coded == null ? plain(part.getKey(), part.getValue()) : coded);
    }
    for (String name : List.copyOf(stored.unused())) {
      ignore(name);
    }
    List<Path> files = new ArrayList<>();
    files.add(directory.resolve("config.json").toRealPath());
    for (Path file : stored.files()) {
      files.add(file.toRealPath());
    }
    ContentFingerprint fingerprint = new ContentFingerprint(files, home, Clock.systemUTC());
    return new ModelFile(directory, config, tensors, fingerprint, null, stored);
  }

  /**
   * Accepts tensors that some checkpoints have but the graph does not use: a tied output matrix,
   * the frequencies that the graph computes, shared experts of width 0 and their gates, scales of
   * activations and of the KV cache, and biases that are all zero.
   */
  private void ignore(String name) {
    boolean tied = config.tiedEmbedding() && name.equals("lm_head.weight");
    boolean spare = spareLayers && name.startsWith("model.layers." + config.layers() + ".");
    boolean unshared = name.contains(".mlp.shared_expert") && !hasSharedExpert();
    if (tied || spare || unshared || name.endsWith(".rotary_emb.inv_freq")) {
      return;
    }
    boolean quantised = quantisation.method() != Quantisation.Method.NONE;
    if (quantised && name.matches(".*[._](input_scale(_ub)?|activation_scale|[qkv]_scale)")) {
      return;
    }
    if (quantised && isZeroBias(name)) {
      return;
    }
    String hint =
        name.endsWith(".qweight") || name.endsWith("_packed") || name.contains("weight_scale")
            ? "; weights are quantised in a way that quantization_config of config.json does not"
                + " say"
            : "";
    throw stored.error(
        name,
        String.format(
            " is not part of a %s graph of %s layers%s",
            config.architecture(), config.layers(), hint));
  }

  private boolean hasSharedExpert() {
    return config.blocks().stream()
        .anyMatch(layer -> layer.feedForward() instanceof Experts e && e.sharedWidth() > 0);
  }

  /** AutoGPTQ writes biases of zeros for layers that have no bias. */
  private boolean isZeroBias(String name) {
    if (!name.endsWith(".bias") || !stored.has(name.replaceFirst("bias$", "qweight"))) {
      return false;
    }
    ByteBuffer bytes = stored.bytes(name).get();
    return bytes.equals(ByteBuffer.allocate(bytes.capacity()));
  }

  private Tensor plain(String name, StoredPart part) {
    SafetensorsFile.Entry entry = stored.entry(part.name());
    TensorType type = check(part, entry);
    String where = stored.where(part.name(), name);
    long offset = part.place().offset() * type.blockBytes();
    if (!part.contiguous()) {
      long bytes = Math.multiplyExact(part.span(), (long) type.blockBytes());
      return new StridedTensor(name, where, type, part, stored.bytes(part.name(), offset, bytes));
    }
    TensorSlot slot =
        new TensorSlot(name, type, part.rows(), part.columns(), entry.position() + offset);
    Tensor tensor = new FileTensor(stored.file(part.name()), slot, where);
    if (part.added() == 0) {
      return tensor;
    }
    float[] values = new float[part.columns()];
    tensor.dequantize(0, values, 0);
    for (int i = 0; i < values.length; i++) {
      values[i] += part.added();
    }
    return new HeapTensor(name, where, values);
  }

  private TensorType check(StoredPart part, SafetensorsFile.Entry entry) {
    TensorType type =
        switch (entry.type()) {
          case "F32" -> TensorType.F32;
          case "F16" -> TensorType.F16;
          case "BF16" -> TensorType.BF16;
          default ->
              throw stored.error(
                  part.name(),
                  ": element type "
                      + ModelFormatException.printable(entry.type())
                      + " is not supported");
        };
    if (!Arrays.equals(part.shape(), entry.shape())) {
      throw stored.error(
          part.name(),
          String.format(
              " is %s; expected %s", Arrays.toString(entry.shape()), sizes(part.shape())));
    }
    long bytes = part.storedElements() * type.blockBytes();
    if (bytes != entry.bytes()) {
      throw stored.error(
          part.name(), ": " + entry.bytes() + " bytes of data for its shape's " + bytes);
    }
    return type;
  }

  private static String sizes(long[] shape) {
    return Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(" x "));
  }
}
