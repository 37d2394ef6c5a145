package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.GraphTensors;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Opens a GGUF file: its head, its configuration, and its tensors checked against the graph. */
final class GgufModel {
  private static final String ROPE_DIVISORS = "rope_freqs.weight";

  private final Path path;
  private final FileChannel channel;
  private final GgufFile file;

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

  private ModelFile open(Supplier<String> fingerprint) throws IOException {
    ModelConfig config = withDivisors(GgufConfig.read(file));
    Map<String, GraphTensors.Shape> shapes = GraphTensors.of(config);
    for (String name : file.tensors().keySet()) {
      if (!shapes.containsKey(name) && !name.equals(ROPE_DIVISORS)) {
        throw new ModelFormatException(
            path + ": tensor " + name + " has no place in a " + config.architecture() + " graph");
      }
    }
    Map<String, Tensor> tensors = new HashMap<>();
    for (Map.Entry<String, GraphTensors.Shape> entry : shapes.entrySet()) {
      TensorSlot slot = slot(entry.getKey(), entry.getValue());
      tensors.put(slot.name(), MappedTensor.map(channel, slot, MappedTensor.WINDOW_BYTES));
    }
    return new ModelFile(path, config, tensors, fingerprint, file.metadata());
  }

  private TensorSlot slot(String name, GraphTensors.Shape shape) {
    GgufTensor tensor = file.tensors().get(name);
    if (tensor == null) {
      throw new ModelFormatException(path + ": tensor " + name + " is missing");
    }
    long[] found = tensor.dimensions();
    boolean fits =
        shape.vector()
            ? found.length == 1 && found[0] == shape.columns()
            : found.length == 2 && found[0] == shape.columns() && found[1] == shape.rows();
    if (!fits) {
      throw new ModelFormatException(
          path + ": tensor " + name + " is " + tensor.shape() + "; expected " + shape);
    }
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
    return new TensorSlot(name, type, shape.rows(), shape.columns(), tensor.offset());
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
