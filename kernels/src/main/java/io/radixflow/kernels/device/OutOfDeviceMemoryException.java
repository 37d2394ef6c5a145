package io.radixflow.kernels.device;

/**
 * A device has less memory free than is asked for; the message has the numbers. It may have more
 * later: a process that was killed gives its memory back seconds after.
 */
public final class OutOfDeviceMemoryException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public OutOfDeviceMemoryException(String message, Throwable cause) {
    super(message, cause);
  }
}
