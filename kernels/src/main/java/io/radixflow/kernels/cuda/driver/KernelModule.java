package io.radixflow.kernels.cuda.driver;

import static io.radixflow.kernels.cuda.driver.CudaException.check;

import java.util.HashMap;
import java.util.Map;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/**
 * The kernels of a {@link DeviceCode}, loaded into a context. If nothing else closes the module,
 * the context does.
 */
public final class KernelModule extends ContextResource {

  private static final int FILL_BLOCKS = 4;
  private static final int FILL_THREADS = 256;

  private final DeviceCode code;
  private final CUmodule handle = new CUmodule();
  private final Map<String, CUfunction> functions = new HashMap<>();

  KernelModule(CudaContext context, DeviceCode code) {
    super(context, "cuModuleUnload");
    this.code = code;
    check(
        JCudaDriver.cuModuleLoadData(handle, code.image()),
        "cuModuleLoadData",
        code.description() + " for compute capability " + capability(context.device()));
    context.opened(this);
  }

  /**
   * Identifies everything that decides the bits of the kernels' results, except the compute
   * capability.
   */
  public String numerics() {
    return code.numerics(context.device(), CudaDriver.load().version());
  }

  /** Returns a new launch of a kernel, without parameters. */
  public KernelLaunch launch(String kernel) {
    return new KernelLaunch(context, kernel, function(kernel));
  }

  /**
   * Queues a fill of memory with random bf16 numbers between -2 and 2, for benchmarks. The size
   * must be a multiple of 16 bytes.
   */
  public void fillRandom(DeviceMemory memory, int seed, CudaStream stream) {
    launch("rf_fill_random")
        .pointer(memory)
        .wide(memory.bytes() / 16)
        .integer(seed)
        .grid(FILL_BLOCKS * context.device().multiprocessors())
        .block(FILL_THREADS)
        .on(stream);
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
          // this query loads the kernel, which would otherwise happen at the first launch
          check(
              JCudaDriver.cuFuncGetAttribute(
                  new int[1], CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function),
              "cuFuncGetAttribute",
              name);
          return function;
        });
  }

  @Override
  int destroy() {
    return JCudaDriver.cuModuleUnload(handle);
  }

  private static String capability(CudaDevice device) {
    return device.major() + "." + device.minor();
  }
}
