package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.BeforeEach;

/** Base of tests of the emulated device itself, with kernels made for that. */
abstract class ProbeTest extends KernelTest {

  @Override
  @BeforeEach
  public void open() {
    EmulatedGpu.requireEmulated();
    super.open();
  }

  @Override
  public DeviceCode code() {
    return EmulatedGpu.probes();
  }

  /** Launches the kernel and waits; returns how that fails. The context is lost then. */
  CudaException failure(KernelLaunch launch) {
    launch.on(stream);
    return catchThrowableOfType(CudaException.class, stream::synchronize);
  }
}
