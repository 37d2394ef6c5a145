package io.radixflow.kernels.cuda.driver;

/**
 * The settings and counters of the emulated driver that tests use; {@code
 * kernels/src/test/emulator/README.md} explains it. Only after {@link EmulatedGpu#require} has
 * loaded it, and not with a real driver.
 */
public final class EmulatedDriver {

  /**
   * System property: {@code true} makes the order that tests begin with the other one, CUDA threads
   * backwards and streams lazy.
   */
  private static final String BACKWARDS_PROPERTY = "gpu.emulator.backwards";

  private EmulatedDriver() {}

  /** CUDA threads and blocks take turns from the last to the first. */
  public static native void setReverse(boolean reverse);

  /** Makes streams work only when they are waited for, which is as late as a device may be. */
  public static native void setLazyStreams(boolean lazy);

  /** Sets the number of devices; 1 at first. */
  public static native void setDevices(int count);

  /** The compute capability; 9.0 at first. */
  public static native void setComputeCapability(int major, int minor);

  /** Sets {@link CudaDriver#version}; 13000 at first. */
  public static native void setDriverVersion(int version);

  /** Bytes of device memory, whatever is allocated already; 1 GiB at first. */
  public static native void setMemoryLimit(long bytes);

  /** Bytes of device memory that are allocated. */
  public static native long memoryUsed();

  /** Contexts that were not destroyed. */
  public static native long contexts();

  /** Allocations of device memory that were not freed. */
  public static native long deviceAllocations();

  /** Allocations of pinned memory that were not freed. */
  public static native long pinnedAllocations();

  /**
   * The {@code nth} call from now (1 is the next) returns {@code code}.
   *
   * @param call the entry point, for example {@code cuMemAlloc}; empty for any
   */
  public static native void failCall(String call, long nth, int code);

  /**
   * The {@code nth} launch from now fails while it runs, and with it the context.
   *
   * @param kernel its name; empty for any
   */
  public static native void failLaunch(String kernel, long nth, int code);

  /** Calls of an entry point wait from now on; an empty name, or another one, lets them go on. */
  public static native void holdCall(String call);

  /** Waits until a call is held; returns at once if none is to be. */
  public static native void awaitHeldCall();

  /** All contexts fail now. */
  public static native void loseContexts(int code);

  /** Calls of an entry point, or launches of a kernel, since the last {@link #resetFaults}. */
  public static native long calls(String name);

  /** Forgets faults, injected and reported, and counts. */
  public static native void resetFaults();

  /** The last fault of a kernel, or an empty text. */
  public static native String lastFault();

  /** Everything as it is at first. */
  public static void reset() {
    resetFaults();
    boolean backwards = Boolean.getBoolean(BACKWARDS_PROPERTY);
    setReverse(backwards);
    setLazyStreams(backwards);
    setDevices(1);
    setComputeCapability(9, 0);
    setDriverVersion(13000);
    setMemoryLimit(1L << 30);
  }
}
