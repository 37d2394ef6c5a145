package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

/** Where a worker widens part of a panel, {@link Panels#DEPTH} columns at most. */
public final class Scratch {

  private static final int LEAST_BLOCK = 16;

  /** Scales and minima, as {@link Scales#widen} writes them. */
  final float[] scales = new float[Panels.DEPTH / LEAST_BLOCK * 2 * PANEL];

  /** Codes: byte[k][PANEL]. */
  final byte[] codes = new byte[Panels.DEPTH * PANEL];

  /** Weights: float[k][PANEL]. */
  public final float[] weights = new float[Panels.DEPTH * PANEL];
}
