package io.radixflow.models.tensor;

import io.radixflow.models.EightBytes;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A matrix of unsigned integers with 2, 4 or 8 bits, several per 32-bit word.
 *
 * @param words the words, little-endian
 * @param bits 2, 4 or 8
 * @param width columns of the matrix of integers
 * @param packing which integers share a word
 */
public record PackedIntegers(LazyBytes words, int bits, int width, Packing packing) {

  /** Which integers are in a word, lowest bits first. */
  public enum Packing {
    /** Consecutive rows: {@code qweight} of GPTQ. */
    DOWN,
    /** Consecutive columns: {@code qzeros} of GPTQ. */
    ACROSS,
    /**
     * Eight consecutive columns in the order 0, 2, 4, 6, 1, 3, 5, 7: AWQ (AutoAWQ's {@code
     * awq/utils/packing_utils.py}).
     */
    AWQ
  }

  /**
   * The last column of words that a thread gathered. The words of a column are far apart in memory,
   * and the thread asks for the integers of one column of words one after another.
   */
  private static final class Gathered {
    private WeakReference<ByteBuffer> source = new WeakReference<>(null);
    private int number;
    private int[] words = {};
  }

  private static final ThreadLocal<Gathered> GATHERED = ThreadLocal.withInitial(Gathered::new);

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  /** The nibble of each of eight columns. */
  private static final int[] AWQ_NIBBLES = {0, 4, 1, 5, 2, 6, 3, 7};

  int at(int row, int column) {
    int each = Integer.SIZE / bits;
    boolean down = packing == Packing.DOWN;
    int word = down ? row / each * width + column : row * (width / each) + column / each;
    int within = down ? row % each : column % each;
    int shift = (packing == Packing.AWQ ? AWQ_NIBBLES[within] : within) * bits;
    return words.get().getInt(word * Integer.BYTES) >>> shift & (1 << bits) - 1;
  }

  /** Copies one row of integers with packing {@link Packing#ACROSS}. */
  void copyRow(int row, byte[] target) {
    int count = width / (Integer.SIZE / bits);
    ByteBuffer words = this.words.get();
    for (int i = 0; i < count; i++) {
      spread(words.getInt((row * count + i) * Integer.BYTES), i, target);
    }
  }

  /**
   * Copies one column of integers.
   *
   * @param target has one element per row
   */
  void copyColumn(int column, byte[] target) {
    ByteBuffer words = this.words.get();
    if (packing == Packing.DOWN) {
      int count = target.length / (Integer.SIZE / bits);
      for (int i = 0; i < count; i++) {
        spread(words.getInt((i * width + column) * Integer.BYTES), i, target);
      }
      return;
    }
    int each = Integer.SIZE / bits;
    Gathered gathered = GATHERED.get();
    if (gathered.source.get() != words || gathered.number != column / each) {
      gather(words, column / each, target.length, gathered);
    }
    int within = column % each;
    int shift = (packing == Packing.AWQ ? AWQ_NIBBLES[within] : within) * bits;
    int mask = (1 << bits) - 1;
    for (int row = 0; row < target.length; row++) {
      target[row] = (byte) (gathered.words[row] >>> shift & mask);
    }
  }

  private void gather(ByteBuffer words, int number, int rows, Gathered gathered) {
    int stride = width / (Integer.SIZE / bits) * Integer.BYTES;
    gathered.source = new WeakReference<>(words);
    gathered.number = number;
    gathered.words = gathered.words.length == rows ? gathered.words : new int[rows];
    for (int row = 0; row < rows; row++) {
      gathered.words[row] = words.getInt(row * stride + number * Integer.BYTES);
    }
  }

  /** Expands the integers of word i to bytes. */
  private void spread(int word, int i, byte[] target) {
    if (bits == 8) {
      WORD.set(target, i * Integer.BYTES, word);
      return;
    }
    if (bits == 2) {
      EightBytes.set(target, 2 * i * Long.BYTES, nibbles(pairs(word & 0xffff)));
      EightBytes.set(target, (2 * i + 1) * Long.BYTES, nibbles(pairs(word >>> 16)));
      return;
    }
    EightBytes.set(target, i * Long.BYTES, nibbles(word & 0xffffffffL));
  }

  /** Expands eight pairs of bits to nibbles. */
  private static long pairs(long word) {
    long nibbles = (word | word << 8) & 0x00ff00ffL;
    nibbles = (nibbles | nibbles << 4) & 0x0f0f0f0fL;
    return (nibbles | nibbles << 2) & 0x33333333L;
  }

  /** Expands eight nibbles to bytes. */
  private static long nibbles(long word) {
    long bytes = word;
    bytes = (bytes | bytes << 16) & 0x0000ffff0000ffffL;
    bytes = (bytes | bytes << 8) & 0x00ff00ff00ff00ffL;
    return (bytes | bytes << 4) & 0x0f0f0f0f0f0f0f0fL;
  }
}
