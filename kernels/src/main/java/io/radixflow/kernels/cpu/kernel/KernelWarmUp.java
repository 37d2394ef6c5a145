package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.LANES;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;
import static io.radixflow.kernels.cpu.kernel.Kernels.QUERIES;

/**
 * Runs the kernels of a backend in turn, on small data, before the backend uses any of them.
 *
 * <p>All vector kernels share the small methods of the Vector API, and therefore the profiles with
 * which C2 compiles those methods. If one kernel runs alone for long, C2 assumes that its types are
 * the only ones, and the next kernel breaks that assumption in one method after another. C2 counts
 * these failed checks over everything that it inlines into a kernel. After a hundred it ignores the
 * profiles. On JDK 17 the last stores of the larger kernels were then not compiled to instructions,
 * accumulators were allocated as objects in each pass of the loop, and eight sequences decoded at a
 * third of the speed until the process ended. Whether this happened depended on the timing of two
 * threads. If kernels take turns from the start, the profiles fit all of them.
 */
public final class KernelWarmUp {

  /** What a backend computes with Java kernels. */
  public enum Use {
    /** Norms, activation functions and softmax. Native code does everything else. */
    ROWS,

    /** Also products with float weights. */
    FLOATS,

    /** Everything. */
    ALL
  }

  /** From round 200 on, a round costs a tenth of the first, because most code is compiled. */
  private static final int ROUNDS = 500;

  private static final int DEPTH = 64;
  private static final int BLOCK = 32;
  private static final int[] TILES = {1, 2, 4, 6, 8};

  private final Kernels kernels;
  private final float[] a = new float[PANEL * DEPTH];
  private final float[] b = new float[PANEL * DEPTH];
  private final float[] c = new float[PANEL * DEPTH];
  private final float[] d = new float[PANEL * DEPTH];
  private final float[] lanes = new float[LANES];
  private final float[] scales = new float[2 * PANEL * DEPTH / BLOCK];
  private final int[] words = new int[PANEL * DEPTH / 4];
  private final byte[] bytes = new byte[PANEL * DEPTH];
  private final short[] halves = new short[PANEL * DEPTH];

  private KernelWarmUp(Kernels kernels) {
    this.kernels = kernels;
  }

  /**
   * Takes up to a second of processor time, plus as much in the compiler's threads; a fifth of that
   * for {@link Use#ROWS}.
   */
  public static void run(Kernels kernels, Use use) {
    KernelWarmUp warmUp = new KernelWarmUp(kernels);
    for (int round = 0; round < ROUNDS; round++) {
      if (use == Use.ALL) {
        warmUp.unpackCodes();
        warmUp.attend();
      }
      if (use != Use.ROWS) {
        warmUp.widen();
        warmUp.multiply();
      }
      warmUp.softmax();
      warmUp.rows();
    }
  }

  private void unpackCodes() {
    for (CodeForm form : CodeForm.values()) {
      kernels.unpackCodes(form, words, 0, DEPTH / BLOCK, c);
    }
    for (CodeForm form : new CodeForm[] {CodeForm.BYTE, CodeForm.SIX}) {
      kernels.unpackParts(form, words, 0, DEPTH / BLOCK, c, d);
      kernels.codesTimesRow(form, words, 0, BLOCK, DEPTH / BLOCK, words, c);
      kernels.codesTimesRow(form, words, 0, BLOCK / 2, DEPTH / BLOCK, words, c);
    }
    kernels.nibblesTimesRow(CodeForm.NIBBLE, words, 0, DEPTH / BLOCK, a, c);
    kernels.nibblesTimesRow(CodeForm.SIGNED_NIBBLE, words, 0, DEPTH / BLOCK, a, c);
    kernels.scaleCodes(c, scales, BLOCK, true, DEPTH);
    kernels.scaleCodes(c, scales, BLOCK, false, DEPTH);
    kernels.addScaled(8, c, null, scales, 0, scales, scales, d, 0, PANEL);
    kernels.addScaled(8, c, null, scales, 0, scales, null, d, 0, PANEL);
    kernels.addScaled(8, c, a, scales, 0, scales, null, d, 0, PANEL);
    kernels.widenFloat8(bytes, 0, DEPTH, c, 0);
  }

  private void widen() {
    kernels.unpackFloat8(bytes, 0, scales, 0, BLOCK, DEPTH / BLOCK, c);
    kernels.widenHalf(halves, 0, DEPTH, c, 0);
    kernels.widenBfloat16(halves, 0, DEPTH, c, 0);
  }

  private void multiply() {
    for (int rows : TILES) {
      kernels.tile(rows, a, 0, b, 0, DEPTH, c, 0, PANEL);
    }
  }

  private void attend() {
    kernels.scores(a, 0, b, 0, DEPTH, 1f, c, 0, LANES);
    kernels.values(c, 0, LANES, b, 0, DEPTH, LANES, a, 0);
    kernels.valuesOne(c, 0, b, 0, DEPTH, LANES, a, QUERIES * DEPTH);
  }

  private void softmax() {
    kernels.max(c, 0, LANES, lanes);
    kernels.exponentials(c, 0, LANES, 0f, lanes);
    kernels.softCap(c, 0, DEPTH, 30f);
  }

  private void rows() {
    kernels.sumOfSquares(a, 0, DEPTH, lanes);
    kernels.scale(a, 0, 0.5f, b, c, 0, DEPTH);
    kernels.add(a, 0, b, 0, DEPTH);
    kernels.swiglu(a, 0, b, 0, c, 0, DEPTH);
    kernels.geglu(a, 0, b, 0, c, 0, DEPTH);
    kernels.normalGlu(a, 0, b, 0, c, 0, DEPTH);
    kernels.clampedSwiglu(a, 0, b, 0, 7f, c, 0, DEPTH);
  }
}
