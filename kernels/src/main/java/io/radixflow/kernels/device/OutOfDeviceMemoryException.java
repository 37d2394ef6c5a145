package io.radixflow.kernels.device;

/**
 * A device has less free memory than was asked for; the message gives the numbers. A later attempt
 * may succeed: the driver frees the memory of a killed process only after some seconds.
 */
public final class OutOfDeviceMemoryException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public OutOfDeviceMemoryException(String message, Throwable cause) {
    super(message, cause);
  }
}
