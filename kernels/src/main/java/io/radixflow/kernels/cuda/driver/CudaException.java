package io.radixflow.kernels.cuda.driver;

import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A call of the CUDA driver failed. The message names the call, its subject (such as a kernel with
 * its sizes or an allocation), the driver's error text, and what to do.
 */
public final class CudaException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int result;

  private CudaException(int result, String message) {
    super(message);
    this.result = result;
  }

  /** The driver's {@code CUresult}. */
  public int result() {
    return result;
  }

  /** Returns whether memory ran out. The context is still usable then. */
  public boolean isOutOfMemory() {
    return result == CUresult.CUDA_ERROR_OUT_OF_MEMORY;
  }

  /** Returns whether the device or its driver cannot run the build's device code. */
  public boolean isCodeRefused() {
    return switch (result) {
      case CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU,
          CUresult.CUDA_ERROR_INVALID_PTX,
          CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION ->
          true;
      default -> false;
    };
  }

  /**
   * Returns whether the context is lost: every later call fails, and the context must be closed.
   */
  public boolean isContextLost() {
    return isLoss(result);
  }

  /** Returns whether a result means that the context is lost. */
  static boolean isLoss(int result) {
    return switch (result) {
      case CUresult.CUDA_ERROR_ECC_UNCORRECTABLE,
          CUresult.CUDA_ERROR_CONTEXT_IS_DESTROYED,
          CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
          CUresult.CUDA_ERROR_LAUNCH_TIMEOUT,
          CUresult.CUDA_ERROR_ASSERT,
          CUresult.CUDA_ERROR_HARDWARE_STACK_ERROR,
          CUresult.CUDA_ERROR_ILLEGAL_INSTRUCTION,
          CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
          CUresult.CUDA_ERROR_INVALID_ADDRESS_SPACE,
          CUresult.CUDA_ERROR_INVALID_PC,
          CUresult.CUDA_ERROR_LAUNCH_FAILED,
          CUresult.CUDA_ERROR_UNKNOWN ->
          true;
      default -> false;
    };
  }

  /** Throws if the result is not success. {@code about} becomes part of the message. */
  static void check(int result, String call, String about) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw of(result, call, about);
    }
  }

  static void check(int result, String call) {
    check(result, call, "");
  }

  static CudaException of(int result, String call, String about) {
    String[] text = new String[1];
    String said = JCudaDriver.cuGetErrorString(result, text) == 0 ? text[0] : "unknown error";
    String name = CUresult.stringFor(result);
    StringBuilder message = new StringBuilder(call);
    if (!about.isEmpty()) {
      message.append(" of ").append(about);
    }
    message.append(" failed with ").append(name).append(" (").append(result).append("): ");
    message.append(said).append(". ").append(advice(result));
    return new CudaException(result, message.toString().trim());
  }

  private static String advice(int result) {
    return switch (result) {
      case CUresult.CUDA_ERROR_OUT_OF_MEMORY ->
          "Lower the device memory budget or the KV pool, or stop other processes on the device.";
      case CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU, CUresult.CUDA_ERROR_INVALID_PTX ->
          "The device code needs compute capability 8.0 or newer.";
      case CUresult.CUDA_ERROR_UNSUPPORTED_PTX_VERSION ->
          "Update the driver: PTX of nvcc 13 needs driver 580 or newer.";
      case CUresult.CUDA_ERROR_NO_DEVICE, CUresult.CUDA_ERROR_INVALID_DEVICE ->
          "Check nvidia-smi and CUDA_VISIBLE_DEVICES.";
      case CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
          CUresult.CUDA_ERROR_MISALIGNED_ADDRESS,
          CUresult.CUDA_ERROR_LAUNCH_FAILED ->
          "An earlier kernel may be the cause: -D"
              + CudaContext.SYNCHRONOUS_PROPERTY
              + "=true finds it.";
      default -> "";
    };
  }
}
