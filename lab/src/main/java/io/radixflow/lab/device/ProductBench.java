package io.radixflow.lab.device;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.gemm.GemmEpilogue;
import io.radixflow.kernels.cuda.gemm.GemmPlan;
import io.radixflow.kernels.cuda.gemm.MatrixProducts;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.StepBuffer;
import java.util.ArrayList;
import java.util.List;
import jcuda.Pointer;

/**
 * Times each product of a model's shape separately on random data. The next product reads other
 * weights, like in a model, where each layer has its own matrices. There are more copies of a
 * matrix than the device's cache can keep. Rows stay in the cache.
 */
final class ProductBench {

  private static final int MOST_COPIES = 256;
  private static final double SHARE_FOR_WEIGHTS = 0.5;
  private static final long SPACE_BYTES = 256L << 20;

  private final DeviceClock clock;
  private final KernelModule module;
  private final GemmPlan plan;
  private final WeightFormat format;

  ProductBench(DeviceClock clock, KernelModule module, GpuMode mode, WeightFormat format) {
    this.clock = clock;
    this.module = module;
    this.format = format;
    CudaDevice device = clock.context().device();
    int shared = device.sharedMemory();
    plan = new GemmPlan(mode, device.multiprocessors(), device.hopper(), shared, shared + 1024);
  }

  /** A matrix of a model, and the operation that its product applies to the sums. */
  private record Product(
      String name, WeightFormat format, int features, int depth, GemmEpilogue epilogue) {

    long weightBytes() {
      return format.bytes(features, depth);
    }

    /** Returns the least bytes that the product must read and write. */
    double bytes(int rows) {
      double result =
          switch (epilogue) {
            case PLAIN, BIAS -> 2;
            case RESIDUAL, LOGITS -> 4;
            case SWIGLU, GEGLU, NORMAL_GLU, CLAMPED_SWIGLU -> 1;
          };
      return weightBytes() + (double) rows * (2.0 * depth + result * features);
    }
  }

  /**
   * Returns the products of a shape. If all layers have experts, these are only the products of
   * attention and of the head.
   */
  private List<Product> products(ModelConfig config) {
    int hidden = config.hiddenSize();
    int wide = config.intermediateSize();
    int attended = StepBuffer.ATTENDED.width(config);
    List<Product> products = new ArrayList<>();
    products.add(product("qkv", StepBuffer.QKV.width(config), hidden, GemmEpilogue.PLAIN));
    products.add(product("o", hidden, attended, GemmEpilogue.RESIDUAL));
    if (wide > 0) {
      products.add(product("gate and up", 2 * wide, hidden, GemmEpilogue.SWIGLU));
      products.add(product("down", hidden, wide, GemmEpilogue.RESIDUAL));
    }
    products.add(product("head", config.vocabSize(), hidden, GemmEpilogue.LOGITS));
    return products;
  }

  private Product product(String name, int features, int depth, GemmEpilogue epilogue) {
    return new Product(name, format, features, depth, epilogue);
  }

  /** Measures all products of a shape for each number of rows. */
  void measure(ModelConfig config, int[] rowCounts, KernelBench.Figures figures) {
    for (Product product : products(config)) {
      for (int rows : rowCounts) {
        figures.accept(
            product.name() + " x " + rows,
            seconds(product, rows),
            product.bytes(rows),
            2.0 * rows * product.features() * product.depth(),
            KernelBench.Bus.MEMORY);
      }
    }
  }

  /** Returns how many copies of a matrix exceed twice the cache, as far as there is room. */
  static int copies(long bytes, long cacheBytes, long room) {
    long enough = (2 * cacheBytes + bytes - 1) / bytes;
    return (int) Math.max(1, Math.min(Math.min(enough, MOST_COPIES), room / bytes));
  }

  private double seconds(Product product, int rows) {
    CudaContext context = clock.context();
    CudaStream stream = clock.stream();
    long room = (long) (SHARE_FOR_WEIGHTS * context.freeMemory());
    int copies = copies(product.weightBytes(), context.cacheBytes(), room);
    try (DeviceMemory weights = context.allocate(copies * product.weightBytes(), "weights");
        DeviceMemory source = context.allocate(2L * rows * product.depth(), "rows");
        DeviceMemory result = context.allocate(4L * rows * product.features(), "a product");
        DeviceMemory count = context.allocate(Integer.BYTES, "a count");
        DeviceMemory space = context.allocate(SPACE_BYTES, "unpacked weights")) {
      module.fillRandom(weights, 1, stream);
      module.fillRandom(source, 2, stream);
      result.fillAsync((byte) 0, stream);
      count.write(Pointer.to(new int[] {rows}), Integer.BYTES);
      List<DeviceClock.Work> works = new ArrayList<>();
      for (int copy = 0; copy < copies; copy++) {
        DeviceMemory own = weights.slice(copy * product.weightBytes(), product.weightBytes());
        List<KernelLaunch> launches = launches(product, rows, own, source, result, count, space);
        works.add(queue -> launches.forEach(launch -> launch.on(queue)));
      }
      return clock.replayed(works);
    }
  }

  private List<KernelLaunch> launches(
      Product product,
      int rows,
      DeviceMemory weights,
      DeviceMemory source,
      DeviceMemory result,
      DeviceMemory count,
      DeviceMemory space) {
    CudaMatrix matrix =
        new CudaMatrix(format, weights, null, product.features(), product.depth(), false, null);
    GemmEpilogue epilogue = product.epilogue();
    DeviceMemory residual = epilogue == GemmEpilogue.RESIDUAL ? result : null;
    List<KernelLaunch> launches = new ArrayList<>();
    new MatrixProducts(module, plan, space)
        .record(
            matrix,
            new MatrixProducts.Operands(source, result, residual, epilogue, 1, 0, rows, count),
            launches);
    return launches;
  }
}
