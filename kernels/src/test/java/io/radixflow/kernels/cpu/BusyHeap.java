package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.models.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Computes steps in native code while other threads allocate as fast as they can. */
final class BusyHeap {

  private static final int ALLOCATIONS = 50_000;
  private static final int ROWS = 256;

  private static volatile Object latest;
  private static volatile Throwable failure;

  private BusyHeap() {}

  /**
   * @param arguments number of threads that allocate
   */
  public static void main(String[] arguments) throws InterruptedException {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
    NativeKernels fast = NativeKernels.fastest().map(NativeKernels::new).orElseThrow();
    DeviceOptions options = new DeviceOptions("cpu", 2, KvSpec.Type.F16);
    try (CpuBackend backend = CpuBackend.open(weights, options, KernelProvider.of(fast), fast)) {
      backend.openPool(ROWS / 16, 16);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
        threads.add(new Thread(BusyHeap::allocate));
      }
      threads.forEach(Thread::start);
      while (threads.stream().anyMatch(Thread::isAlive)) {
        step(backend);
      }
    }
    if (failure != null) {
      failure.printStackTrace();
      System.exit(1);
    }
    System.out.println("enough memory");
  }

  private static void allocate() {
    try {
      for (int i = 0; i < ALLOCATIONS; i++) {
        latest = new byte[50_000];
      }
    } catch (OutOfMemoryError e) {
      failure = e;
    }
  }

  private static void step(CpuBackend backend) throws InterruptedException {
    int[] pages = new int[ROWS / 16];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = i;
    }
    Batch batch = new Batch();
    batch.beginChunk(pages, pages.length, 0);
    for (int row = 0; row < ROWS; row++) {
      batch.token(row % Shapes.llama().vocabSize());
    }
    batch.output(null, Batch.LOGITS);
    StepTicket ticket = backend.submit(batch);
    ticket.await();
    failure = ticket.failure() == null ? failure : ticket.failure();
  }
}
