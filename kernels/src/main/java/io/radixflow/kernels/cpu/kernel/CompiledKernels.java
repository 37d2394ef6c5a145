package io.radixflow.kernels.cpu.kernel;

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
      int rows, Floats a, int ao, Floats w, int wo, int depth, Floats c, int co, int ldc) {
    tile(
        isa,
        rows,
        a.address(ao, rows * depth),
        w.address(wo, depth * PANEL),
        depth,
        c.address(co, (rows - 1) * ldc + PANEL),
        ldc);
  }

  @Override
  public float sumOfSquares(Floats x, int xo, int n, float[] lanes) {
    return sumOfSquares(isa, x.address(xo, n), n);
  }

  @Override
  public void scale(Floats x, int xo, float factor, Floats gain, Floats out, int oo, int n) {
    scale(isa, x.address(xo, n), factor, gain.address(0, n), out.address(oo, n), n);
  }

  @Override
  public void add(Floats x, int xo, Floats y, int yo, int n) {
    add(isa, x.address(xo, n), y.address(yo, n), n);
  }

  @Override
  public void swiglu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n) {
    apply(Gate.SWIGLU, gate, go, up, uo, 0f, out, oo, n);
  }

  @Override
  public void geglu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n) {
    apply(Gate.GEGLU, gate, go, up, uo, 0f, out, oo, n);
  }

  @Override
  public void normalGlu(Floats gate, int go, Floats up, int uo, Floats out, int oo, int n) {
    apply(Gate.NORMAL, gate, go, up, uo, 0f, out, oo, n);
  }

  @Override
  public void clampedSwiglu(
      Floats gate, int go, Floats up, int uo, float limit, Floats out, int oo, int n) {
    apply(Gate.CLAMPED, gate, go, up, uo, limit, out, oo, n);
  }

  private void apply(
      Gate kind, Floats gate, int go, Floats up, int uo, float limit, Floats out, int oo, int n) {
    long to = out.address(oo, n);
    gate(isa, kind.ordinal(), gate.address(go, n), up.address(uo, n), limit, to, n);
  }

  @Override
  public void softCap(Floats x, int xo, int n, float cap) {
    softCap(isa, x.address(xo, n), n, cap);
  }

  @Override
  public void softmax(
      Floats scores,
      int stride,
      int[] from,
      int[] to,
      int first,
      int end,
      float cap,
      Floats sinks,
      int so,
      int group,
      float[] factors,
      float[] lanes) {
    int count = end - first;
    checkFromToIndex(first, end, Math.min(factors.length, Math.min(from.length, to.length)));
    for (int i = first; i < end; i++) {
      checkFromToIndex(from[i], to[i], stride / LANES * LANES);
    }
    long at = scores.address(first * stride, count * stride);
    long sink = sinks == null ? 0 : sinks.address(so, group);
    softmax(isa, at, stride, from, to, first, count, cap, sink, group, factors);
  }

  /** Reads all floats, a multiple of 64, as fast as one thread can. */
  public float read(Floats memory) {
    int count = memory.length() / 64 * 64;
    return read(isa, memory.address(0, count), count);
  }

  /**
   * Multiplies and adds floats in registers only, as fast as one thread can. Returns the number of
   * multiply-adds.
   */
  public long multiplyAdd(long rounds) {
    return peak(isa, rounds);
  }

  private static native void tile(int isa, int rows, long a, long w, int depth, long c, int ldc);

  private static native float sumOfSquares(int isa, long x, int n);

  private static native void scale(int isa, long x, float factor, long gain, long out, int n);

  private static native void add(int isa, long x, long y, int n);

  private static native void gate(
      int isa, int kind, long gate, long up, float limit, long out, int n);

  private static native void softCap(int isa, long x, int n, float cap);

  private static native void softmax(
      int isa,
      long scores,
      int stride,
      int[] from,
      int[] to,
      int first,
      int count,
      float cap,
      long sinks,
      int group,
      float[] factors);

  private static native float read(int isa, long memory, int n);

  private static native long peak(int isa, long rounds);
}
