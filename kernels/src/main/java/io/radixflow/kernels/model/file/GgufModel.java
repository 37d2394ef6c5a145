package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.FeedForward.Experts;
import io.radixflow.kernels.model.GraphTensors;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.tensor.MappedTensor;
import io.radixflow.kernels.model.tensor.RowRange;
import io.radixflow.kernels.model.tensor.TensorSlot;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/** Opens a GGUF file: its head, its configuration, and its tensors checked against the graph. */
final class GgufModel {
  private static final String ROPE_DIVISORS = "rope_freqs.weight";

  private final Path path;
  private final FileChannel channel;
  private final GgufFile file;

  /** Tensors of all experts of a layer, by their names in the file. */
  private final Map<String, Tensor> stacks = new HashMap<>();

  private GgufModel(Path path, FileChannel channel) throws IOException {
    this.path = path;
    this.channel = channel;
    file = GgufFile.read(path, channel);
  }

  static ModelFile open(Path path, Supplier<String> fingerprint) throws IOException {
    try (FileChannel channel = FileChannel.open(path)) {
      return new GgufModel(path, channel).open(fingerprint);
    }
  }

  /** Reads the metadata alone, whatever the architecture. */
  static GgufMetadata metadata(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path)) {
      return GgufFile.read(path, channel).metadata();
    }
  }

  /** Says what a file is: its architecture, and how many tensors of each type it has. */
  static String summary(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path)) {
      GgufFile file = GgufFile.read(path, channel);
      Map<String, Integer> types = new TreeMap<>();
      for (GgufTensor tensor : file.tensors().values()) {
        String known = tensor.type() == null ? " (not supported)" : "";
        types.merge(tensor.typeName() + known, 1, Integer::sum);
      }
      String architecture =
          file.metadata().has("general.architecture")
              ? file.metadata().string("general.architecture")
              : "not named";
      return String.format(
          "GGUF, architecture %s, tensors: %s", ModelFile.printable(architecture), types);
    }
  }

  private ModelFile open(Supplier<String> fingerprint) throws IOException {
    ModelConfig config = withDivisors(GgufConfig.read(file));
    Map<String, GraphTensors.Shape> shapes = GraphTensors.of(config);
    Set<String> stored = new HashSet<>();
    shapes.keySet().forEach(name -> stored.add(storedName(name)));
    for (String name : file.tensors().keySet()) {
      if (!stored.contains(name) && !name.equals(ROPE_DIVISORS)) {
        throw new ModelFormatException(
            path + ": tensor " + name + " has no place in a " + config.architecture() + " graph");
      }
    }
    Map<String, Tensor> tensors = new HashMap<>();
    for (Map.Entry<String, GraphTensors.Shape> entry : shapes.entrySet()) {
      tensors.put(entry.getKey(), tensor(config, entry.getKey(), entry.getValue()));
    }
    return new ModelFile(path, config, tensors, fingerprint, file.metadata());
  }

  private Tensor tensor(ModelConfig config, String name, GraphTensors.Shape shape)
      throws IOException {
    String stored = storedName(name);
    if (stored.equals(name)) {
      return MappedTensor.map(channel, slot(name, shape), MappedTensor.WINDOW_BYTES);
    }
    Tensor all = stacks.get(stored);
    if (all == null) {
      int layer = Integer.parseInt(name.substring(4, name.indexOf('.', 4)));
      int experts = ((Experts) config.layer(layer).feedForward()).count();
      all = MappedTensor.map(channel, stack(stored, shape, experts), MappedTensor.WINDOW_BYTES);
      stacks.put(stored, all);
    }
    return new RowRange(name, all, expert(name) * shape.rows(), shape.rows());
  }

  /** The tensor that has an expert's: {@code ffn_up_exps} for {@code ffn_up.3}. */
  private String storedName(String name) {
    int end = name.lastIndexOf('.');
    int number = name.lastIndexOf('.', end - 1);
    boolean expert = name.startsWith("ffn_", name.indexOf('.', 4) + 1) && expert(name) >= 0;
    return expert && !file.tensors().containsKey(name)
        ? name.substring(0, number) + "_exps" + name.substring(end)
        : name;
  }

  /** The number before the last part of a name; -1 if there is none. */
  private static int expert(String name) {
    int end = name.lastIndexOf('.');
    String part = name.substring(name.lastIndexOf('.', end - 1) + 1, end);
    return part.matches("[0-9]{1,6}") ? Integer.parseInt(part) : -1;
  }

  /** All experts of a tensor, one below the other. */
  private TensorSlot stack(String name, GraphTensors.Shape shape, int experts) {
    GgufTensor tensor = present(name);
    long[] found = tensor.dimensions();
    boolean fits =
        found.length == 3
            && found[0] == shape.columns()
            && found[1] == shape.rows()
            && found[2] == experts;
    if (!fits) {
      throw new ModelFormatException(
          String.format(
              "%s: tensor %s is %s; expected %s of %s",
              path, name, tensor.shape(), experts, shape));
    }
    long rows = (long) experts * shape.rows();
    if (rows > Integer.MAX_VALUE) {
      throw new ModelFormatException(path + ": tensor " + name + " has too many rows");
    }
    return new TensorSlot(
        name, type(tensor, name, shape), (int) rows, shape.columns(), tensor.offset());
  }

  private GgufTensor present(String name) {
    GgufTensor tensor = file.tensors().get(name);
    if (tensor == null) {
      throw new ModelFormatException(path + ": tensor " + name + " is missing");
    }
    return tensor;
  }

  private TensorSlot slot(String name, GraphTensors.Shape shape) {
    GgufTensor tensor = present(name);
    long[] found = tensor.dimensions();
    boolean fits =
        shape.vector() || shape.rows() == 1 && found.length == 1
            ? found.length == 1 && found[0] == shape.columns()
            : found.length == 2 && found[0] == shape.columns() && found[1] == shape.rows();
    if (!fits) {
      throw new ModelFormatException(
          path + ": tensor " + name + " is " + tensor.shape() + "; expected " + shape);
    }
    TensorType type = type(tensor, name, shape);
    return new TensorSlot(name, type, shape.rows(), shape.columns(), tensor.offset());
  }

  private TensorType type(GgufTensor tensor, String name, GraphTensors.Shape shape) {
    TensorType type = tensor.type();
    if (type == null) {
      throw new ModelFormatException(
          path + ": tensor " + name + ": element type " + tensor.typeName() + " is not supported");
    }
    if (shape.columns() % type.blockElements() != 0) {
      throw new ModelFormatException(
          String.format(
              "%s: tensor %s: %s columns are not whole blocks of %s",
              path, name, shape.columns(), type));
    }
    return type;
  }

  private ModelConfig withDivisors(ModelConfig config) throws IOException {
    if (!file.tensors().containsKey(ROPE_DIVISORS)) {
      return config;
    }
    int pairs = config.headDim() / 2;
    TensorSlot slot = slot(ROPE_DIVISORS, new GraphTensors.Shape(1, pairs, true));
    float[] values = new float[pairs];
    MappedTensor.map(channel, slot, MappedTensor.WINDOW_BYTES).dequantize(0, values, 0);
    List<Float> divisors = new ArrayList<>();
    for (float value : values) {
      if (!(value > 0 && value < Float.POSITIVE_INFINITY)) {
        throw new ModelFormatException(
            path + ": tensor " + ROPE_DIVISORS + " has the value " + value);
      }
      divisors.add(value);
    }
    return config.withBlocks(
        config.blocks().stream().map(layer -> layer.withDivisors(divisors)).toList());
  }
}
