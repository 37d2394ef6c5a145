package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;

/**
 * Reorders a group of 32 codes lane by lane: each of four lanes gets its pairs of a matrix
 * fragment. Immutable.
 */
final class CodePacking {

  private static final int LANES = 4;
  private static final int RUNS = 4;

  private static final Map<TensorType, CodePacking> OF_TYPE = new EnumMap<>(TensorType.class);

  static {
    for (TensorType type : TensorType.values()) {
      OF_TYPE.put(type, new CodePacking(type));
    }
  }

  /** The stored code for each code of {@link BlockCodes}. */
  private final byte[] stored = new byte[256];

  private CodePacking(TensorType type) {
    byte[] values = BlockCodes.table(type);
    int added = type == TensorType.Q5_0 ? 16 : type == TensorType.Q3_K ? 4 : 0;
    for (int i = 0; i < stored.length; i++) {
      stored[i] = (byte) (i + added);
    }
    for (int i = values.length - 1; i >= 0; i--) {
      stored[values[i] & 0xff] = (byte) i;
    }
  }

  static CodePacking of(TensorType type) {
    return OF_TYPE.get(type);
  }

  private int stored(byte[] codes, int from, int lane, int element) {
    return stored[codes[from + element / 2 * 8 + lane * 2 + element % 2] & 0xff];
  }

  /** Writes 32 codes as 32 bytes. */
  void bytes(byte[] codes, int from, ByteBuffer target, int to) {
    for (int i = 0; i < LANES * RUNS * 2; i++) {
      target.put(to + i, (byte) stored(codes, from, i / 8, i % 8));
    }
  }

  /** Writes the low four bits of 32 codes as 16 bytes. */
  void nibbles(byte[] codes, int from, ByteBuffer target, int to) {
    for (int i = 0; i < LANES * RUNS; i++) {
      int low = stored(codes, from, i / RUNS, i % RUNS * 2);
      int high = stored(codes, from, i / RUNS, i % RUNS * 2 + 1);
      target.put(to + i, (byte) (low & 15 | high << 4));
    }
  }

  /** Writes the fifth bits of 32 codes, one byte per lane. */
  void fifthBits(byte[] codes, int from, ByteBuffer target, int to) {
    for (int lane = 0; lane < LANES; lane++) {
      int bits = 0;
      for (int i = 0; i < RUNS * 2; i++) {
        bits |= (stored(codes, from, lane, i) >> 4 & 1) << i;
      }
      target.put(to + lane, (byte) bits);
    }
  }
}
