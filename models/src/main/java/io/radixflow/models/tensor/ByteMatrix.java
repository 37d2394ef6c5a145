package io.radixflow.models.tensor;

import io.radixflow.models.Float8;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A matrix of 8-bit floats or integers with one scale per block of rows and columns: {@code w = v *
 * scale}. {@code weight_dequant_kernel} of DeepSeek-V3 ({@code inference/kernel.py}) and vLLM's
 * {@code w8a8} schemes multiply in the same way. DeepSeek-V3 calls the scale {@code
 * weight_scale_inv}.
 */
public final class ByteMatrix extends CodedMatrix {

  /**
   * The block that shares a scale.
   *
   * @param rows rows of a block; the last block may have fewer
   * @param columns columns of a block; the last block may have fewer
   */
  public record Block(int rows, int columns) {}

  private final boolean floats;
  private final LazyBytes codes;
  private final FloatGrid scales;
  private final Block block;

  /**
   * @param floats whether bytes are 8-bit floats; if not, they are signed integers
   * @param codes the bytes, row by row
   */
  public ByteMatrix(
      String name, int columns, boolean floats, LazyBytes codes, FloatGrid scales, Block block) {
    super(name, columns);
    this.floats = floats;
    this.codes = codes;
    this.scales = scales;
    this.block = block;
  }

  @Override
  TensorType type() {
    boolean oneScale = block.columns % BLOCK == 0 || block.columns >= columns();
    if (columns() % BLOCK != 0 || !oneScale) {
      return TensorType.F32;
    }
    return floats ? TensorType.FP8 : TensorType.INT8;
  }

  @Override
  List<ByteBuffer> hold() {
    return List.of(codes.get(), scales.values().get());
  }

  @Override
  long heldBytes() {
    return codes.size() + scales.values().size();
  }

  @Override
  void copyRow(int row, ByteBuffer target) {
    if (type() == TensorType.F32) {
      copyFloats(row, target);
      return;
    }
    byte[] copy = new byte[columns()];
    codes.get().get(row * columns(), copy);
    boolean numbers = true;
    for (byte code : copy) {
      numbers &= !floats || !Float8.isNaN(code);
    }
    if (!numbers) {
      throw notANumber(row);
    }
    for (int column = 0; column < columns(); column += BLOCK) {
      target.putFloat(scale(row, column)).put(copy, column, BLOCK);
    }
  }

  private float scale(int row, int column) {
    return checked(scales.at(row / block.rows, column / block.columns), row);
  }

  private byte code(int row, int column) {
    byte code = codes.get().get(row * columns() + column);
    if (floats && Float8.isNaN(code)) {
      throw notANumber(row);
    }
    return code;
  }

  @Override
  float value(int row, int column) {
    byte code = code(row, column);
    return (floats ? Float8.toFloat(code) : code) * scale(row, column);
  }
}
