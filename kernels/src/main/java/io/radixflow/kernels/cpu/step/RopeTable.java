package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.models.Rope;
import java.util.Arrays;

/**
 * Cosines and sines of the rotary embedding, computed in double with {@link StrictMath} and rounded
 * to float once. The table grows with the longest sequence so far.
 *
 * <p>Owned by the dispatcher, which calls {@link #ensure} before a step. Workers only call {@link
 * #rotate}.
 */
final class RopeTable {

  private final Rope rope;
  private final boolean interleaved;
  private final double[] frequencies;
  private float[] cosines = new float[0];
  private float[] sines = new float[0];
  private int positions;

  RopeTable(Rope rope, int headDim) {
    this.rope = rope;
    interleaved = rope.interleaved();
    frequencies = rope.frequencies(headDim);
  }

  /** Extends the table to all positions below {@code count}. */
  void ensure(int count) {
    if (count <= positions) {
      return;
    }
    int half = frequencies.length;
    int size = Math.max(count, Math.max(256, positions * 2));
    cosines = Arrays.copyOf(cosines, size * half);
    sines = Arrays.copyOf(sines, size * half);
    for (int position = positions; position < size; position++) {
      for (int i = 0; i < half; i++) {
        double angle = position * frequencies[i];
        cosines[position * half + i] = rope.cosine(angle);
        sines[position * half + i] = rope.sine(angle);
      }
    }
    positions = size;
  }

  /** Rotates one head, or the rotated part of it, in place. */
  void rotate(Floats x, int offset, int position) {
    int half = frequencies.length;
    int table = position * half;
    int step = interleaved ? 2 : 1;
    int partner = interleaved ? 1 : half;
    for (int i = 0; i < half; i++) {
      int at = offset + i * step;
      float cos = cosines[table + i];
      float sin = sines[table + i];
      float a = x.get(at);
      float b = x.get(at + partner);
      x.set(at, a * cos - b * sin);
      x.set(at + partner, a * sin + b * cos);
    }
  }
}
