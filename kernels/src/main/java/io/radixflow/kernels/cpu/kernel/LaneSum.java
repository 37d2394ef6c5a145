package io.radixflow.kernels.cpu.kernel;

/**
 * Adds the sixteen logical lanes of a sum. Halves are added to halves, in the same order on every
 * machine.
 */
final class LaneSum {

  private LaneSum() {}

  static float of(float[] lanes) {
    for (int half = Kernels.LANES / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; i++) {
        lanes[i] += lanes[i + half];
      }
    }
    return lanes[0];
  }
}
