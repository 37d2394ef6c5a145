package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import java.util.HashMap;
import java.util.Map;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/** The kernels of a {@link DeviceCode} loaded into a context; unloaded at the latest with it. */
public final class KernelModule implements ContextResource {

  private final CudaContext context;
  private final DeviceCode code;
  private final CUmodule handle = new CUmodule();
  private final Map<String, CUfunction> functions = new HashMap<>();
  private boolean closed;

  KernelModule(CudaContext context, DeviceCode code) {
    this.context = context;
    this.code = code;
    check(
        JCudaDriver.cuModuleLoadData(handle, code.image()),
        "cuModuleLoadData",
        code.description() + " for compute capability " + capability(context.device()));
    context.opened(this);
  }

  /** A new launch of the kernel with this name, yet without parameters. */
  public KernelLaunch launch(String kernel) {
    return new KernelLaunch(context, kernel, function(kernel));
  }

  private CUfunction function(String kernel) {
    return functions.computeIfAbsent(
        kernel,
        name -> {
          CUfunction function = new CUfunction();
          check(
              JCudaDriver.cuModuleGetFunction(function, handle, name),
              "cuModuleGetFunction",
              name + " in " + code.description());
          return function;
        });
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      context.free(this, () -> JCudaDriver.cuModuleUnload(handle), "cuModuleUnload");
    }
  }

  private static String capability(CudaDevice device) {
    return device.major() + "." + device.minor();
  }
}
