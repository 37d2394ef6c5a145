package io.radixflow.kernels.sampling;

/** A row of logits from which no token can be drawn (NaN, or nothing finite). */
public final class SamplingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SamplingException(String message) {
    super(message);
  }
}
