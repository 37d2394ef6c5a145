package io.radixflow.kernels.cuda;

import io.radixflow.kernels.sampling.FixedPointExp;
import jcuda.Pointer;

/**
 * The kernel that draws tokens; {@code sampling.cuh} describes it. Owns the table of powers.
 *
 * <p>Used by the thread that submits.
 */
final class SamplingKernel implements AutoCloseable {

  /** The largest vocabulary that the kernel's shared memory has room for. */
  static final int MAX_VOCAB = 4096 * 256;

  private static final int THREADS = 512;
  private static final int BINS = 4096;
  private static final int SHARED_BYTES = Long.BYTES * (BINS + THREADS / 32 + 1) + 16;
  private static final int FIRST = 8;

  private final DeviceMemory powers;
  private final KernelLaunch launch;

  /**
   * @param step the step's metadata, laid out by {@code layout}
   * @param logits rows of {@code vocabSize} floats
   * @param ring sampled tokens
   */
  SamplingKernel(
      CudaContext context,
      KernelModule module,
      StepLayout layout,
      DeviceMemory step,
      DeviceMemory logits,
      DeviceMemory ring,
      StepResults results,
      int vocabSize) {
    double[] table = FixedPointExp.powers();
    powers = context.allocate((long) table.length * Double.BYTES, "the exponential's table");
    powers.write(Pointer.to(table), powers.bytes());
    launch =
        module
            .launch("rf_sample")
            .pointer(step)
            .pointer(step, (long) layout.sampling() * Integer.BYTES)
            .pointer(logits)
            .pointer(powers)
            .pointer(ring)
            .pointer(results.heads())
            .pointer(results.topIds())
            .pointer(results.topLogits())
            .integer(0)
            .integer(vocabSize)
            .integer(new FixedPointExp(vocabSize).scaleBits())
            .block(THREADS)
            .shared(SHARED_BYTES);
  }

  /** Queues the draws of outputs {@code first} to {@code first + count - 1}. */
  void sample(int first, int count, CudaStream stream) {
    launch.setInteger(FIRST, first);
    launch.grid(count).on(stream);
  }

  @Override
  public void close() {
    powers.close();
  }
}
