package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Judges a kernel's result by an exact one and by the plain bf16 computation: the same formula with
 * sums in f32 in their natural order and intermediate and final results rounded to bf16.
 */
public final class Closeness {

  private final double[] exact;
  private final float[] plain;

  /**
   * @param exact computed in f64 from the same bf16 inputs
   * @param plain as a plain bf16 program computes it
   */
  public Closeness(double[] exact, float[] plain) {
    this.exact = exact;
    this.plain = plain;
  }

  /** The result's mean square and greatest errors are at most twice those of the plain one. */
  public void check(float[] got, String what) {
    double gotSquares = 0;
    double plainSquares = 0;
    double gotMost = 0;
    double plainMost = 0;
    for (int i = 0; i < exact.length; i++) {
      double ours = Math.abs(got[i] - exact[i]);
      double theirs = Math.abs(plain[i] - exact[i]);
      assertThat(ours).as("%s: error of element %d", what, i).isNotNaN();
      gotSquares += ours * ours;
      plainSquares += theirs * theirs;
      gotMost = Math.max(gotMost, ours);
      plainMost = Math.max(plainMost, theirs);
    }
    assertThat(Math.sqrt(gotSquares / exact.length))
        .as("%s: root mean square error", what)
        .isLessThanOrEqualTo(2 * Math.sqrt(plainSquares / exact.length));
    assertThat(gotMost).as("%s: greatest error", what).isLessThanOrEqualTo(2 * plainMost);
  }
}
