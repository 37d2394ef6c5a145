package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;

/** Any stack of encodings, any rows and any panels give the bits of the formula everywhere. */
class IntegerProductsProperties {

  @Property(tries = 150, shrinking = ShrinkingMode.OFF)
  void allImplementationsGiveTheFormulasBits(
      @ForAll @IntRange(min = 1, max = 3) int parts,
      @ForAll @IntRange(min = 1, max = 40) int count,
      @ForAll boolean biased,
      @ForAll long seed) {
    SyntheticTensor.Mix random = new SyntheticTensor.Mix(seed);
    List<Tensor> tensors = tensors(parts, random);
    int columns = tensors.get(0).columns();
    int panels = 0;
    for (Tensor tensor : tensors) {
      panels += (tensor.rows() + Kernels.PANEL - 1) / Kernels.PANEL;
    }
    float[] bias = biased ? floats(panels * Kernels.PANEL, random) : null;
    float[][] rows = new float[1 + random.below(count + 3)][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = floats(columns, random);
    }
    int number = random.below(4);
    int[] numbers = new int[number + count];
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = random.below(rows.length);
    }
    int first = random.below(panels);
    int end = first + 1 + random.below(panels - first);
    IntegerCase test = new IntegerCase(tensors, bias);
    test.check(rows, numbers, number, count, first, end, random.below(50));
  }

  /** Tensors of one width, which whole blocks of each type make up. */
  private static List<Tensor> tensors(int parts, SyntheticTensor.Mix random) {
    List<TensorType> all = IntegerCase.types();
    List<TensorType> types = new ArrayList<>();
    int block = 0;
    for (int i = 0; i < parts; i++) {
      types.add(all.get(random.below(all.size())));
      block = Math.max(block, types.get(i).blockElements());
    }
    int columns = block * (1 + random.below(1024 / block));
    List<Tensor> tensors = new ArrayList<>();
    for (int i = 0; i < parts; i++) {
      int rows = (1 + random.below(3)) * Kernels.PANEL - (i == parts - 1 ? random.below(32) : 0);
      tensors.add(
          new SyntheticTensor("part " + i, types.get(i), rows, columns, 0.5f, 0f, random.next()));
    }
    return tensors;
  }

  /** Numbers around a size of their own every few columns, zeros among them. */
  private static float[] floats(int count, SyntheticTensor.Mix random) {
    float[] values = new float[count];
    float size = 1;
    for (int i = 0; i < count; i++) {
      if (i % 16 == 0) {
        size = random.below(9) == 0 ? 0 : Math.scalb(1f, random.below(40) - 20);
      }
      values[i] = (2 * random.unit() - 1) * size;
    }
    return values;
  }
}
