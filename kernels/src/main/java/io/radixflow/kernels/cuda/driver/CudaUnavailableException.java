package io.radixflow.kernels.cuda.driver;

/** No CUDA device can be used. The message says why and what to do. */
public final class CudaUnavailableException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  CudaUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }

  public CudaUnavailableException(String message) {
    this(message, null);
  }
}
