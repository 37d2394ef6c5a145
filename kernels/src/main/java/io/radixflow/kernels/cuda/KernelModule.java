package io.radixflow.kernels.cuda;

import static io.radixflow.kernels.cuda.CudaException.check;

import java.util.HashMap;
import java.util.Map;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/** The kernels of a {@link DeviceCode} loaded into a context; freed with the context. */
public final class KernelModule {

  private final CudaContext context;
  private final DeviceCode code;
  private final CUmodule handle = new CUmodule();
  private final Map<String, CUfunction> functions = new HashMap<>();

  KernelModule(CudaContext context, DeviceCode code) {
    this.context = context;
    this.code = code;
    check(
        JCudaDriver.cuModuleLoadData(handle, code.image()),
        "cuModuleLoadData",
        code.description() + " for compute capability " + capability(context.device()));
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

  private static String capability(CudaDevice device) {
    return device.major() + "." + device.minor();
  }
}
