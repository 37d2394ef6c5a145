package io.radixflow.kernels.cpu.kernel;

/**
 * The one tree that adds the sixteen logical lanes of a sum: halves are added to halves, in this
 * order on every machine.
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
