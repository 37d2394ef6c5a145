package io.radixflow.kernels.cpu.kernel;

import static java.util.Objects.checkFromIndexSize;
import static java.util.Objects.checkFromToIndex;

/**
 * Kernels in native code ({@code rows.c}), with the same bits as in Java. What native products and
 * native attention replace as a whole is inherited: plain Java.
 */
public final class CompiledKernels extends ScalarKernels {

  /** NativeOrderTest compares the order with rows.h. */
  private enum Gate {
    SWIGLU,
    GEGLU,
    NORMAL,
    CLAMPED
  }

  private final NativeKernels fast;
  private final int isa;

  public CompiledKernels(NativeKernels fast) {
    this.fast = fast;
    isa = fast.isaNumber();
  }

  @Override
  public String name() {
    return "native";
  }

  @Override
  public int vectorBits() {
    return fast.vectorBits();
  }

  @Override
  public void tile(
      int rows, float[] a, int ao, float[] w, int wo, int depth, float[] c, int co, int ldc) {
    checkFromIndexSize(ao, rows * depth, a.length);
    checkFromIndexSize(wo, depth * PANEL, w.length);
    checkFromIndexSize(co, (rows - 1) * ldc + PANEL, c.length);
    tile(isa, rows, a, ao, w, wo, depth, c, co, ldc);
  }

  @Override
  public void widenHalf(short[] source, int so, int count, float[] out, int oo) {
    checkWidened(so, source.length, count, oo, out);
    fast.widenHalf(source, so, count, out, oo);
  }

  @Override
  public void widenFloat8(byte[] source, int so, int count, float[] out, int oo) {
    checkWidened(so, source.length, count, oo, out);
    widenFloat8(isa, source, so, count, out, oo);
  }

  private static void checkWidened(int so, int length, int count, int oo, float[] out) {
    if (count % LANES != 0) {
      throw new IllegalArgumentException(count + " is not a multiple of " + LANES);
    }
    checkFromIndexSize(so, count, length);
    checkFromIndexSize(oo, count, out.length);
  }

  @Override
  public float sumOfSquares(float[] x, int xo, int n, float[] lanes) {
    checkFromIndexSize(xo, n, x.length);
    return sumOfSquares(isa, x, xo, n);
  }

  @Override
  public void scale(float[] x, int xo, float factor, float[] gain, float[] out, int oo, int n) {
    checkFromIndexSize(xo, n, x.length);
    checkFromIndexSize(0, n, gain.length);
    checkFromIndexSize(oo, n, out.length);
    scale(isa, x, xo, factor, gain, out, oo, n);
  }

  @Override
  public void add(float[] x, int xo, float[] y, int yo, int n) {
    checkFromIndexSize(xo, n, x.length);
    checkFromIndexSize(yo, n, y.length);
    add(isa, x, xo, y, yo, n);
  }

  @Override
  public void swiglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    apply(Gate.SWIGLU, gate, go, up, uo, 0f, out, oo, n);
  }

  @Override
  public void geglu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    apply(Gate.GEGLU, gate, go, up, uo, 0f, out, oo, n);
  }

  @Override
  public void normalGlu(float[] gate, int go, float[] up, int uo, float[] out, int oo, int n) {
    apply(Gate.NORMAL, gate, go, up, uo, 0f, out, oo, n);
  }

  @Override
  public void clampedSwiglu(
      float[] gate, int go, float[] up, int uo, float limit, float[] out, int oo, int n) {
    apply(Gate.CLAMPED, gate, go, up, uo, limit, out, oo, n);
  }

  private void apply(
      Gate kind,
      float[] gate,
      int go,
      float[] up,
      int uo,
      float limit,
      float[] out,
      int oo,
      int n) {
    checkFromIndexSize(go, n, gate.length);
    checkFromIndexSize(uo, n, up.length);
    checkFromIndexSize(oo, n, out.length);
    gate(isa, kind.ordinal(), gate, go, up, uo, limit, out, oo, n);
  }

  @Override
  public void softCap(float[] x, int xo, int n, float cap) {
    checkFromIndexSize(xo, n, x.length);
    softCap(isa, x, xo, n, cap);
  }

  @Override
  public void softmax(
      float[] scores,
      int stride,
      int[] from,
      int[] to,
      int first,
      int end,
      float cap,
      float[] sinks,
      int so,
      int group,
      float[] factors,
      float[] lanes) {
    checkFromToIndex(first, end, Math.min(factors.length, Math.min(from.length, to.length)));
    checkFromToIndex((long) first * stride, (long) end * stride, scores.length);
    for (int i = first; i < end; i++) {
      checkFromToIndex(from[i], to[i], stride / LANES * LANES);
    }
    if (sinks != null) {
      checkFromIndexSize(so, group, sinks.length);
    }
    softmax(isa, scores, stride, from, to, first, end, cap, sinks, so, group, factors);
  }

  /** Reads a whole array, whose length is a multiple of 64, as fast as one thread can. */
  public float read(float[] memory) {
    checkFromIndexSize(0, memory.length / 64 * 64, memory.length);
    return read(isa, memory, memory.length / 64 * 64);
  }

  /**
   * Multiplies and adds floats in registers only, as fast as one thread can. Returns the number of
   * multiply-adds.
   */
  public long multiplyAdd(long rounds) {
    return peak(isa, rounds);
  }

  private static native void tile(
      int isa,
      int rows,
      float[] a,
      int ao,
      float[] w,
      int wo,
      int depth,
      float[] c,
      int co,
      int ldc);

  private static native void widenFloat8(
      int isa, byte[] source, int so, int count, float[] out, int oo);

  private static native float sumOfSquares(int isa, float[] x, int xo, int n);

  private static native void scale(
      int isa, float[] x, int xo, float factor, float[] gain, float[] out, int oo, int n);

  private static native void add(int isa, float[] x, int xo, float[] y, int yo, int n);

  private static native void gate(
      int isa,
      int kind,
      float[] gate,
      int go,
      float[] up,
      int uo,
      float limit,
      float[] out,
      int oo,
      int n);

  private static native void softCap(int isa, float[] x, int xo, int n, float cap);

  private static native void softmax(
      int isa,
      float[] scores,
      int stride,
      int[] from,
      int[] to,
      int first,
      int end,
      float cap,
      float[] sinks,
      int so,
      int group,
      float[] factors);

  private static native float read(int isa, float[] memory, int n);

  private static native long peak(int isa, long rounds);
}
