package io.radixflow.models.file;

import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Rope;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.file.GgufParts.Part;
import io.radixflow.models.file.format.GgufFile;
import io.radixflow.models.file.format.GgufFiles;
import io.radixflow.models.file.format.GgufMetadata;
import io.radixflow.models.file.format.GgufTensor;
import io.radixflow.models.io.RegularFiles;
import io.radixflow.models.tensor.FileTensor;
import io.radixflow.models.tensor.HeapTensor;
import io.radixflow.models.tensor.RowRange;
import io.radixflow.models.tensor.TensorSlot;
import io.radixflow.models.tensor.TransposedTensor;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Opens a GGUF file: reads its head and its configuration, and checks its tensors against the
 * graph.
 */
final class GgufModel {
  private static final String SCALED_DIVISORS = "rope_freqs.weight";
  private static final String LONG_DIVISORS = "rope_factors_long.weight";
  private static final String SHORT_DIVISORS = "rope_factors_short.weight";
  private static final Set<String> DIVISORS =
      Set.of(SCALED_DIVISORS, LONG_DIVISORS, SHORT_DIVISORS);

  private static final long MAX_TRANSPOSED = 1 << 28;

  private final Path path;
  private final GgufFiles files;
  private final GgufFile file;

  /** Tensors whose parts are tensors of the graph, by their names in the file. */
  private final Map<String, Tensor> stacks = new HashMap<>();

  private GgufModel(Path path, GgufFiles files) {
    this.path = path;
    this.files = files;
    file = files.merged();
  }

  /**
   * Opens a file. If it is the first part of a split model, opens the other parts too.
   *
   * @param home the directory for fingerprints
   */
  static ModelFile open(Path path, Path home) throws IOException {
    GgufFiles files = GgufFiles.open(path);
    try {
      List<Path> real = new ArrayList<>();
      for (Path one : files.paths()) {
        real.add(one.toRealPath());
      }
      return new GgufModel(path, files).open(new ContentFingerprint(real, home, Clock.systemUTC()));
    } catch (IOException | RuntimeException | Error e) {
      files.close();
      throw e;
    }
  }

  /** Reads only the metadata, whatever the architecture. */
  static GgufMetadata metadata(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(RegularFiles.require(path))) {
      return GgufFile.read(path, channel).metadata();
    }
  }

  /** Describes a file: its architecture, and the number of tensors per type. */
  static String summary(Path path) throws IOException {
    try (GgufFiles files = GgufFiles.open(path)) {
      GgufFile file = files.merged();
      Map<String, Integer> types = new TreeMap<>();
      for (GgufTensor tensor : file.tensors().values()) {
        String known = tensor.type() == null ? " (not supported)" : "";
        types.merge(tensor.typeName() + known, 1, Integer::sum);
      }
      String architecture =
          file.metadata().has("general.architecture")
              ? file.metadata().string("general.architecture")
              : "without a name";
      return String.format(
          "GGUF, architecture %s, tensors: %s",
          ModelFormatException.printable(architecture), types);
    }
  }

  private ModelFile open(Supplier<String> fingerprint) {
    ModelConfig config = withDivisors(GgufConfig.read(file));
    Map<String, GraphTensors.Shape> shapes = GraphTensors.of(config);
    Map<String, Tensor> tensors = new HashMap<>();
    Set<String> stored = new HashSet<>(DIVISORS);
    GgufParts parts = new GgufParts(config, file);
    for (Map.Entry<String, GraphTensors.Shape> entry : shapes.entrySet()) {
      Part part = parts.part(entry.getKey(), entry.getValue());
      stored.add(part.stored());
      tensors.put(entry.getKey(), tensor(part, entry.getKey(), entry.getValue()));
    }
    for (String name : file.tensors().keySet()) {
      if (!stored.contains(name) && !parts.isSpare(name)) {
        throw new ModelFormatException(
            path + ": tensor " + name + " is not part of a " + config.architecture() + " graph");
      }
    }
    return new ModelFile(path, config, tensors, fingerprint, file.metadata(), files);
  }

  private Tensor tensor(Part part, String name, GraphTensors.Shape shape) {
    if (part.rows() == 0) {
      return stored(slot(part.stored(), shape));
    }
    if (part.rows() > Integer.MAX_VALUE) {
      throw new ModelFormatException(path + ": tensor " + part.stored() + " has too many rows");
    }
    Tensor all = stacks.get(part.stored());
    if (all == null) {
      all = stored(slot(part, shape));
      stacks.put(part.stored(), all);
    }
    if (part.transposed()) {
      if ((long) shape.rows() * shape.columns() > MAX_TRANSPOSED) {
        throw new ModelFormatException(
            path + ": tensor " + part.stored() + " has heads of " + shape + "; that is too large");
      }
      RowRange rows = new RowRange(name, all, part.first(), shape.columns());
      return new TransposedTensor(name, rows);
    }
    if (!shape.vector()) {
      return new RowRange(name, all, part.first(), shape.rows());
    }
    float[] values = new float[(int) part.rows()];
    int width = all.columns();
    for (int row = 0; row < all.rows(); row++) {
      all.dequantize(row, values, row * width);
    }
    return new HeapTensor(
        name,
        all.where(),
        Arrays.copyOfRange(values, part.first(), part.first() + shape.columns()));
  }

  private Tensor stored(TensorSlot slot) {
    return new FileTensor(files.file(slot.name()), slot);
  }

  /** The slot of a whole tensor whose parts are tensors of the graph. */
  private TensorSlot slot(Part part, GraphTensors.Shape shape) {
    if (part.stack() == 0) {
      int columns = part.transposed() ? shape.rows() : shape.columns();
      GraphTensors.Shape whole =
          shape.vector()
              ? new GraphTensors.Shape(1, (int) part.rows(), true)
              : new GraphTensors.Shape((int) part.rows(), columns, false);
      return slot(part.stored(), whole);
    }
    GgufTensor tensor = present(part.stored());
    long[] found = tensor.dimensions();
    boolean fits =
        shape.vector()
            ? found.length == 2 && found[0] == shape.columns() && found[1] == part.stack()
            : found.length == 3
                && found[0] == shape.columns()
                && found[1] == part.rows() / part.stack()
                && found[2] == part.stack();
    if (!fits) {
      throw new ModelFormatException(
          String.format(
              "%s: tensor %s is %s; expected %s of %s%s",
              path,
              part.stored(),
              tensor.shape(),
              part.stack(),
              part.rows() > (long) part.stack() * shape.rows() ? "two " : "",
              shape));
    }
    int rows = shape.vector() ? part.stack() : (int) part.rows();
    TensorType type = type(tensor, part.stored(), shape);
    return new TensorSlot(part.stored(), type, rows, shape.columns(), tensor.offset());
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

  /** Adds the divisors of the rotary frequencies to the layers that have a rotary embedding. */
  private ModelConfig withDivisors(ModelConfig config) {
    String name = divisors(config);
    if (!file.tensors().containsKey(name)) {
      return config;
    }
    List<Layer> blocks = new ArrayList<>();
    for (Layer layer : config.blocks()) {
      Rope rope = layer.attention().rope();
      boolean rotated = rope != null && layer.attention() instanceof Grouped;
      int pairs = rotated ? rope.width(layer.attention().keyWidth()) / 2 : 0;
      blocks.add(rotated ? layer.withDivisors(divisors(name, pairs)) : layer);
    }
    return config.withBlocks(blocks);
  }

  /**
   * The tensor with the divisors. It depends on whether the context is longer than the original.
   */
  private String divisors(ModelConfig config) {
    if (file.tensors().containsKey(SCALED_DIVISORS)) {
      return SCALED_DIVISORS;
    }
    boolean longer = config.contextLength() > GgufConfig.originalContext(file);
    return longer ? LONG_DIVISORS : SHORT_DIVISORS;
  }

  private List<Float> divisors(String name, int pairs) {
    TensorSlot slot = slot(name, new GraphTensors.Shape(1, pairs, true));
    float[] values = new float[pairs];
    stored(slot).dequantize(0, values, 0);
    List<Float> divisors = new ArrayList<>();
    for (float value : values) {
      if (!(value > 0 && value < Float.POSITIVE_INFINITY)) {
        throw new ModelFormatException(path + ": tensor " + name + " has the value " + value);
      }
      divisors.add(value);
    }
    return divisors;
  }
}
