package io.radixflow.kernels.cpu.kernel;

import jdk.incubator.vector.FloatVector;

/**
 * The kernels that use the Vector API, at the machine's preferred width of 128, 256 or 512 bits.
 * Load this class only if module {@code jdk.incubator.vector} is present.
 */
final class VectorKernels implements Kernels {

  private final NativeKernels fast;

  /**
   * @param fast native code for operations that take many instructions in Java, or null
   */
  VectorKernels(NativeKernels fast) {
    this.fast = fast;
  }

  @Override
  public String name() {
    return "vector";
  }

  @Override
  public int vectorBits() {
    return FloatVector.SPECIES_PREFERRED.vectorBitSize();
  }

  @Override
  public void tile(
      int rows, float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    for (int i = 0; i < PANEL; i += VectorTiles.WIDTH) {
      switch (rows) {
        case 1 -> VectorTiles.rows1(a, ao, w, wo + i, depth, c, co + i, ldc);
        case 2 -> VectorTiles.rows2(a, ao, w, wo + i, depth, c, co + i, ldc);
        case 4 -> VectorTiles.rows4(a, ao, w, wo + i, depth, c, co + i, ldc);
        case 6 -> VectorTiles.rows6(a, ao, w, wo + i, depth, c, co + i, ldc);
        case 8 -> VectorTiles.rows8(a, ao, w, wo + i, depth, c, co + i, ldc);
        default -> throw new IllegalArgumentException("no tile of " + rows + " rows");
      }
    }
  }

  @Override
  public void unpackCodes(CodeForm form, int[] codes, int co, int blocks, float[] out) {
    switch (form) {
      case NIBBLE -> VectorCodes.nibbles(codes, co, blocks, out);
      case SIGNED_NIBBLE -> VectorCodes.signedNibbles(codes, co, blocks, out);
      case BYTE -> VectorCodes.bytes(codes, co, blocks, out);
      case SIX -> VectorCodes.sixes(codes, co, blocks, out);
    }
  }

  @Override
  public void unpackParts(
      CodeForm form, int[] codes, int co, int blocks, float[] high, float[] low) {
    if (form == CodeForm.SIX) {
      VectorCodes.partsOfSixes(codes, co, blocks, high, low);
    } else {
      VectorCodes.partsOfBytes(codes, co, blocks, high, low);
    }
  }

  @Override
  public void nibblesTimesRow(
      CodeForm form, int[] codes, int co, int blocks, float[] x, float[] sums) {
    if (form == CodeForm.NIBBLE) {
      VectorOneRow.nibbles(codes, co, blocks, x, sums);
    } else {
      VectorOneRow.signedNibbles(codes, co, blocks, x, sums);
    }
  }

  @Override
  public void codesTimesRow(
      CodeForm form, int[] codes, int co, int block, int blocks, int[] x, float[] sums) {
    if (form == CodeForm.SIX) {
      VectorOneRow.sixes(codes, co, block, blocks, x, sums);
    } else {
      VectorOneRow.bytes(codes, co, block, blocks, x, sums);
    }
  }

  @Override
  public void scaleCodes(float[] w, float[] scales, int block, boolean minima, int depth) {
    VectorCodes.scale(w, scales, block, minima, depth);
  }

  @Override
  public void addScaled(
      int rows,
      float[] sums,
      float[] high,
      float[] scales,
      int so,
      float[] rowScales,
      float[] rowMinima,
      float[] c,
      int co,
      int ldc) {
    VectorCodes.addScaled(rows, sums, high, scales, so, rowScales, rowMinima, c, co, ldc);
  }

  @Override
  public void unpackFloat8(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, float[] out) {
    VectorFloat8.unpack(codes, co, scales, so, block, blocks, out);
  }

  @Override
  public void widenHalf(short[] source, int so, int count, float[] out, int oo) {
    if (fast == null) {
      VectorHalves.widenHalf(source, so, count, out, oo);
    } else {
      fast.widenHalf(source, so, count, out, oo);
    }
  }

  @Override
  public int rowsOfHalves() {
    return fast == null ? 0 : 8;
  }

  @Override
  public void multiplyHalves(
      short[] values,
      int from,
      boolean bfloat16,
      int columns,
      float[] x,
      int xs,
      int rows,
      float[] c,
      int co,
      int ldc) {
    fast.multiplyHalves(values, from, bfloat16, columns, x, xs, rows, c, co, ldc);
  }

  @Override
  public void widenFloat8(byte[] source, int so, int count, float[] out, int oo) {
    VectorFloat8.widen(source, so, count, out, oo);
  }

  @Override
  public void widenBfloat16(short[] source, int so, int count, float[] out, int oo) {
    VectorHalves.widenBfloat16(source, so, count, out, oo);
  }

  @Override
  public float sumOfSquares(float[] x, int xo, int n, float[] lanes) {
    return VectorRows.sumOfSquares(x, xo, n, lanes);
  }

  @Override
  public void scale(float[] x, int xo, float factor, float[] gain, float[] out, int oo, int n) {
    VectorRows.scale(x, xo, factor, gain, out, oo, n);
  }

  @Override
  public void add(float[] x, int xo, float[] y, int yo, int n) {
    VectorRows.add(x, xo, y, yo, n);
  }

  @Override
  public void swiglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    VectorRows.swiglu(gate, go, up, uo, out, oo, n);
  }

  @Override
  public void geglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    VectorRows.geglu(gate, go, up, uo, out, oo, n);
  }

  @Override
  public void normalGlu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    VectorRows.normalGlu(gate, go, up, uo, out, oo, n);
  }

  @Override
  public void clampedSwiglu(
      float[] gate, int go, float[] up, int uo, float limit, float[] out, int oo, int n) {
    VectorRows.clampedSwiglu(gate, go, up, uo, limit, out, oo, n);
  }

  @Override
  public void softCap(float[] x, int xo, int n, float cap) {
    VectorRows.softCap(x, xo, n, cap);
  }

  @Override
  public void scores(
      float[] query,
      int qo,
      float[] keys,
      int ko,
      int headDim,
      float scale,
      float[] out,
      int oo,
      int stride) {
    VectorAttention.scores(query, qo, keys, ko, headDim, scale, out, oo, stride);
  }

  @Override
  public float max(float[] x, int xo, int n, float[] lanes) {
    return VectorRows.max(x, xo, n, lanes);
  }

  @Override
  public float exponentials(float[] x, int xo, int n, float max, float[] lanes) {
    return VectorRows.exponentials(x, xo, n, max, lanes);
  }

  @Override
  public void values(
      float[] weights,
      int wo,
      int ws,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    VectorAttention.values(weights, wo, ws, values, vo, headDim, tokens, out, oo);
  }

  @Override
  public void valuesOne(
      float[] weights,
      int wo,
      float[] values,
      int vo,
      int headDim,
      int tokens,
      float[] out,
      int oo) {
    VectorAttention.valuesOne(weights, wo, values, vo, headDim, tokens, out, oo);
  }
}
