package io.radixflow.kernels.cuda.driver;

import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;
import org.opentest4j.TestAbortedException;

/**
 * Skips properties where {@link EmulatedGpu} finds no device, with its reason. An emulated device
 * is as it is at first, whatever the tests before have set.
 */
public final class NeedsDevice implements SkipExecutionHook {

  @Override
  public SkipResult shouldBeSkipped(LifecycleContext context) {
    try {
      EmulatedGpu.require();
      if (EmulatedGpu.isEmulated()) {
        EmulatedDriver.reset();
      }
      return SkipResult.doNotSkip();
    } catch (TestAbortedException e) {
      return SkipResult.skip(e.getMessage());
    }
  }
}
