package io.radixflow.models.file;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.file.format.Checkpoint;
import io.radixflow.models.file.format.SafetensorsFile;
import io.radixflow.models.tensor.ByteMatrix;
import io.radixflow.models.tensor.ByteMatrix.Block;
import io.radixflow.models.tensor.CodedMatrix;
import io.radixflow.models.tensor.CodedTensor;
import io.radixflow.models.tensor.FileBytes;
import io.radixflow.models.tensor.FloatGrid;
import io.radixflow.models.tensor.IntegerMatrix;
import io.radixflow.models.tensor.IntegerMatrix.Groups;
import io.radixflow.models.tensor.IntegerMatrix.Integers;
import io.radixflow.models.tensor.Mxfp4Tensor;
import io.radixflow.models.tensor.PackedIntegers;
import io.radixflow.models.tensor.PackedIntegers.Packing;
import io.radixflow.models.tensor.StoredPart;
import io.radixflow.models.tensor.StoredPart.Place;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Finds the tensors that replace a matrix of floats in a checkpoint: codes, scales and zero points.
 * The tensors that exist show which matrices are quantised; {@link Quantisation} says how.
 */
final class QuantisedWeights {
  private static final String CODES = "_blocks";

  private final Checkpoint stored;
  private final Quantisation quantisation;

  /**
   * Matrices by name, and experts by name and number. A graph reads several parts of the same
   * matrix.
   */
  private final Map<String, CodedMatrix> matrices = new HashMap<>();

  QuantisedWeights(Checkpoint stored, Quantisation quantisation) {
    this.stored = stored;
    this.quantisation = quantisation;
  }

  /**
   * Returns the tensor of a quantised part; null if the part is not quantised.
   *
   * @param name canonical name
   */
  Tensor tensor(String name, StoredPart part) {
    if (part.name().endsWith(CODES)) {
      return mxfp4(name, part);
    }
    if (part.shape().length == 3) {
      return isBytes(part.name()) ? expert(name, part) : null;
    }
    CodedMatrix matrix = matrices.get(part.name());
    if (matrix == null) {
      matrix = part.shape().length == 2 ? matrix(part) : null;
      if (matrix == null) {
        return null;
      }
      matrices.put(part.name(), matrix);
    }
    return new CodedTensor(name, part, matrix);
  }

  private CodedMatrix matrix(StoredPart part) {
    String name = part.name();
    int rows = Math.toIntExact(part.shape()[0]);
    int columns = Math.toIntExact(part.shape()[1]);
    if (isBytes(name)) {
      FileBytes codes = expect(name, stored.entry(name).type(), rows, columns);
      return bytes(name, scaleName(name), rows, columns, codes);
    }
    if (stored.has(name) || !name.endsWith("weight")) {
      return null;
    }
    String stem = name.substring(0, name.length() - "weight".length());
    return switch (quantisation.method()) {
      case AWQ -> stored.has(stem + "qweight") ? awq(stem, rows, columns) : null;
      case GPTQ -> stored.has(stem + "qweight") ? gptq(stem, rows, columns) : null;
      case PACKED -> stored.has(stem + "weight_packed") ? packed(stem, rows, columns) : null;
      default -> null;
    };
  }

  private boolean isBytes(String name) {
    if (!stored.has(name) || quantisation.method() != Quantisation.Method.BYTES) {
      return false;
    }
    return isFloat8(name) || stored.entry(name).type().equals("I8");
  }

  private boolean isFloat8(String name) {
    return stored.entry(name).type().equals("F8_E4M3");
  }

  private String scaleName(String name) {
    return stored.has(name + "_scale_inv") ? name + "_scale_inv" : name + "_scale";
  }

  private CodedMatrix bytes(String name, String scaleName, int rows, int columns, FileBytes codes) {
    boolean floats = isFloat8(name);
    long[] shape = stored.entry(scaleName).shape();
    Block block = quantisation.block();
    Block found;
    int height = block == null ? 1 : ceil(rows, block.rows());
    int width = block == null ? 1 : ceil(columns, block.columns());
    if (block != null && Arrays.equals(shape, new long[] {height, width})) {
      found = block;
    } else {
      height = product(shape) == 1 ? 1 : rows;
      width = 1;
      found = new Block(height == 1 ? rows : 1, columns);
      if (product(shape) != height || shape.length > 0 && shape[0] != height) {
        throw stored.error(
            scaleName,
            String.format(
                " is %s, which does not fit scales of %s x %s weights%s",
                Arrays.toString(shape),
                rows,
                columns,
                block == null ? "" : " in blocks of " + block.rows() + " x " + block.columns()));
      }
    }
    FloatGrid scales = grid(scaleName, width, (long) height * width);
    return new ByteMatrix(stored.where(name), columns, floats, codes, scales, found);
  }

  /** One expert of a tensor that contains all experts. Each expert has its own blocks. */
  private Tensor expert(String name, StoredPart part) {
    long[] shape = part.shape();
    String all = part.name();
    String scaleName = scaleName(all);
    Block block = quantisation.block();
    if (block == null) {
      throw stored.error(
          all, ": experts in one tensor are supported only if each block has a scale");
    }
    check(all, stored.entry(all).type(), 1, shape);
    int rows = Math.toIntExact(shape[1]);
    int columns = Math.toIntExact(shape[2]);
    int height = ceil(rows, block.rows());
    int width = ceil(columns, block.columns());
    long size = (long) rows * columns;
    long expert = part.place().offset() / size;
    Place place = part.place();
    StoredPart own =
        new StoredPart(
            all,
            new long[] {rows, columns},
            part.rows(),
            part.columns(),
            new Place(place.offset() % size, place.rowStride(), place.columnStride()),
            0);
    String key = all + " " + expert;
    CodedMatrix matrix = matrices.get(key);
    if (matrix == null) {
      TensorType scaleType = scaleType(scaleName, shape[0] * height * width);
      check(scaleName, stored.entry(scaleName).type(), 0, shape[0], height, width);
      long bytes = (long) height * width * scaleType.blockBytes();
      FileBytes scales = stored.bytes(scaleName, expert * bytes, bytes);
      FileBytes codes = stored.bytes(all, expert * size, size);
      matrix =
          new ByteMatrix(
              stored.where(all),
              columns,
              isFloat8(all),
              codes,
              new FloatGrid(scales, scaleType, width),
              block);
      matrices.put(key, matrix);
    }
    return new CodedTensor(name, own, matrix);
  }

  /**
   * {@code qweight} [columns, rows / 8], {@code qzeros} [groups, rows / 8], {@code scales} [groups,
   * rows], where rows means outputs.
   */
  private CodedMatrix awq(String stem, int rows, int columns) {
    whole(stem + "qweight", rows, 8, "outputs");
    int groups = groupCount(columns);
    FileBytes codes = expect(stem + "qweight", "I32", columns, rows / 8);
    FileBytes zeros = expect(stem + "qzeros", "I32", groups, rows / 8);
    Integers integers =
        new Integers(
            new PackedIntegers(codes, 4, rows, Packing.AWQ),
            new PackedIntegers(zeros, 4, rows, Packing.AWQ),
            0,
            true);
    FloatGrid scales = scales(stem + "scales", groups, rows);
    return new IntegerMatrix(
        stored.where(stem + "qweight"), rows, columns, integers, scales, regular(groups, columns));
  }

  /**
   * {@code qweight} [columns / n, rows] with n codes per word, {@code qzeros} [groups, rows / n],
   * {@code scales} [groups, rows], {@code g_idx} [columns]. The first format stores zero points
   * minus one.
   */
  private CodedMatrix gptq(String stem, int rows, int columns) {
    int bits = quantisation.bits();
    int each = Integer.SIZE / bits;
    whole(stem + "qweight", rows, each, "outputs");
    whole(stem + "qweight", columns, each, "inputs");
    int groups = groupCount(columns);
    FileBytes codes = expect(stem + "qweight", "I32", columns / each, rows);
    FileBytes zeros = expect(stem + "qzeros", "I32", groups, rows / each);
    Integers integers =
        new Integers(
            new PackedIntegers(codes, bits, rows, Packing.DOWN),
            new PackedIntegers(zeros, bits, rows, Packing.ACROSS),
            quantisation.added(),
            true);
    FloatGrid scales = scales(stem + "scales", groups, rows);
    return new IntegerMatrix(
        stored.where(stem + "qweight"),
        rows,
        columns,
        integers,
        scales,
        groups(stem + "g_idx", groups, columns));
  }

  /**
   * {@code weight_packed} [rows, columns / n], {@code weight_scale} [rows, groups], {@code
   * weight_zero_point} [rows / n, groups], {@code weight_g_idx} [columns].
   */
  private CodedMatrix packed(String stem, int rows, int columns) {
    int bits = quantisation.bits();
    int each = Integer.SIZE / bits;
    String name = stem + "weight_packed";
    whole(name, columns, each, "inputs");
    int groups = groupCount(columns);
    PackedIntegers codes =
        new PackedIntegers(
            expect(name, "I32", rows, columns / each), bits, columns, Packing.ACROSS);
    PackedIntegers zeros = null;
    String zeroName = stem + "weight_zero_point";
    if (stored.has(zeroName)) {
      FileBytes words = expect(zeroName, "I32", ceil(rows, each), groups);
      zeros = new PackedIntegers(words, bits, groups, Packing.DOWN);
    }
    if (stored.has(stem + "weight_shape")) {
      stored.entry(stem + "weight_shape");
    }
    Integers integers = new Integers(codes, zeros, zeros == null ? quantisation.added() : 0, false);
    FloatGrid scales = scales(stem + "weight_scale", rows, groups);
    return new IntegerMatrix(
        stored.where(name),
        rows,
        columns,
        integers,
        scales,
        groups(stem + "weight_g_idx", groups, columns));
  }

  private int groupCount(int columns) {
    return quantisation.group() == 0 ? 1 : ceil(columns, quantisation.group());
  }

  private Groups regular(int groups, int columns) {
    return new Groups(groups, groups == 1 ? columns : quantisation.group(), null);
  }

  private Groups groups(String name, int groups, int columns) {
    if (!stored.has(name)) {
      return regular(groups, columns);
    }
    ByteBuffer stores = expect(name, "I32", columns).get();
    int[] ofColumn = new int[columns];
    Groups regular = regular(groups, columns);
    boolean same = true;
    for (int column = 0; column < columns; column++) {
      ofColumn[column] = stores.getInt(column * Integer.BYTES);
      if (ofColumn[column] < 0 || ofColumn[column] >= groups) {
        throw stored.error(
            name,
            String.format(
                ": column %s is in group %s; there are %s", column, ofColumn[column], groups));
      }
      same &= ofColumn[column] == column / regular.size();
    }
    return same ? regular : new Groups(groups, regular.size(), ofColumn);
  }

  private FloatGrid scales(String name, int height, int width) {
    check(name, stored.entry(name).type(), 0, height, width);
    return grid(name, width, (long) height * width);
  }

  /** Returns scales whose number was checked. */
  private FloatGrid grid(String name, int width, long count) {
    return new FloatGrid(stored.bytes(name), scaleType(name, count), width);
  }

  /** Returns the type of {@code count} scales, and checks their size. */
  private TensorType scaleType(String name, long count) {
    String stores = stored.entry(name).type();
    TensorType type =
        switch (stores) {
          case "F32" -> TensorType.F32;
          case "F16" -> TensorType.F16;
          case "BF16" -> TensorType.BF16;
          default ->
              throw stored.error(
                  name,
                  ": scales of type "
                      + ModelFormatException.printable(stores)
                      + " are not supported");
        };
    if (stored.entry(name).bytes() != count * type.blockBytes()) {
      throw stored.error(
          name, ": " + stored.entry(name).bytes() + " bytes of data for " + count + " scales");
    }
    return type;
  }

  /** Returns the bytes of a tensor, which must have this type and shape. */
  private FileBytes expect(String name, String type, long... shape) {
    check(name, type, type.equals("I32") ? Integer.BYTES : 1, shape);
    return stored.bytes(name);
  }

  /**
   * Checks the type and shape of a tensor. Also checks its size, unless {@code elementBytes} is 0.
   */
  private void check(String name, String type, int elementBytes, long... shape) {
    SafetensorsFile.Entry entry = stored.entry(name);
    boolean fits = entry.type().equals(type) && Arrays.equals(entry.shape(), shape);
    if (!fits) {
      throw stored.error(
          name,
          String.format(
              " is %s of %s; expected %s of %s",
              ModelFormatException.printable(entry.type()),
              Arrays.toString(entry.shape()),
              type,
              Arrays.toString(shape)));
    }
    if (elementBytes > 0 && entry.bytes() != product(shape) * elementBytes) {
      throw stored.error(name, ": " + entry.bytes() + " bytes of data do not fit its shape");
    }
  }

  private void whole(String name, int size, int each, String what) {
    if (size % each != 0) {
      throw stored.error(name, ": " + size + " " + what + " do not fill words of " + each);
    }
  }

  private static long product(long[] shape) {
    long product = 1;
    for (long size : shape) {
      product *= size;
    }
    return product;
  }

  private static int ceil(int size, int each) {
    return (int) (((long) size + each - 1) / each);
  }

  /** An expert of gpt_oss: codes {@code NAME_blocks}, and exponents {@code NAME_scales}. */
  private Tensor mxfp4(String name, StoredPart part) {
    long[] shape = part.shape();
    String exponentsName =
        part.name().substring(0, part.name().length() - CODES.length()) + "_scales";
    check(part.name(), "U8", 1, shape);
    check(exponentsName, "U8", 1, Arrays.copyOf(shape, shape.length - 1));
    long expert = part.place().columnStride();
    long size = shape[1] * shape[2];
    FileBytes codes = stored.bytes(part.name(), expert * size * 16, size * 16);
    FileBytes exponents = stored.bytes(exponentsName, expert * size, size);
    return new Mxfp4Tensor(name, stored.where(part.name(), name), part, codes, exponents);
  }
}
