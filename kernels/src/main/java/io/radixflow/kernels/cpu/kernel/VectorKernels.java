package io.radixflow.kernels.cpu.kernel;

import jdk.incubator.vector.FloatVector;

/**
 * The kernels on the Vector API, at the machine's preferred width of 128, 256 or 512 bits. Load
 * only where module {@code jdk.incubator.vector} is readable.
 */
final class VectorKernels implements Kernels {

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
  public void unpackNibbles(int[] codes, int co, float[] scales, int so, int eighths, float[] out) {
    VectorNibbles.unpack(codes, co, scales, so, eighths, out);
  }

  @Override
  public void nibblesTimesVector(
      int[] codes, int co, float[] scales, int so, int eighths, float[] x, float[] out, int oo) {
    VectorNibbles.timesVector(codes, co, scales, so, eighths, x, out, oo);
  }

  @Override
  public void nibblesTimesRows(
      int rows,
      int[] codes,
      int co,
      float[] scales,
      int so,
      int depth,
      float[] a,
      float[] c,
      int at,
      int ldc) {
    if (rows == 4) {
      VectorFewRowsNibbles.times4(codes, co, scales, so, depth, a, c, at, ldc);
    } else {
      VectorFewRowsNibbles.times8(codes, co, scales, so, depth, a, c, at, ldc);
    }
  }

  @Override
  public void bytesTimesRows(
      int rows,
      byte[] codes,
      int co,
      float[] scales,
      int so,
      int block,
      int depth,
      float[] a,
      float[] c,
      int at,
      int ldc) {
    if (rows == 4) {
      VectorFewRowsBytes.times4(codes, co, scales, so, block, depth, a, c, at, ldc);
    } else {
      VectorFewRowsBytes.times8(codes, co, scales, so, block, depth, a, c, at, ldc);
    }
  }

  @Override
  public void unpackBytes(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, float[] out) {
    VectorBytes.unpack(codes, co, scales, so, block, blocks, out);
  }

  @Override
  public void unpackFloat8(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, float[] out) {
    VectorBytes.unpackFloat8(codes, co, scales, so, block, blocks, out);
  }

  @Override
  public void bytesTimesVector(
      byte[] codes,
      int co,
      float[] scales,
      int so,
      int block,
      int blocks,
      float[] x,
      float[] out,
      int oo) {
    VectorBytes.timesVector(codes, co, scales, so, block, blocks, x, out, oo);
  }

  @Override
  public void unpackBytesWithMinimum(
      byte[] codes, int co, float[] scales, int so, int block, int blocks, float[] out) {
    VectorBytes.unpackWithMinimum(codes, co, scales, so, block, blocks, out);
  }

  @Override
  public void widenHalf(short[] source, int so, int count, float[] out, int oo) {
    VectorHalves.widenHalf(source, so, count, out, oo);
  }

  @Override
  public void widenFloat8(byte[] source, int so, int count, float[] out, int oo) {
    VectorBytes.widenFloat8(source, so, count, out, oo);
  }

  @Override
  public void widenBrain(short[] source, int so, int count, float[] out, int oo) {
    VectorHalves.widenBrain(source, so, count, out, oo);
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
