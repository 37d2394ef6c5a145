package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.sampling.FixedPointExp;
import jcuda.Pointer;

/**
 * The kernels that draw tokens, which {@code sampling.cuh} describes. Owns the table of powers and
 * the memory for intermediate results between the kernels.
 *
 * <p>Only the thread that submits steps uses it.
 */
public final class SamplingKernel implements AutoCloseable {

  /** The largest vocabulary that fits into the kernels' shared memory. */
  static final int MAX_VOCAB = 4096 * 256;

  private static final String[] KERNELS = {
    "rf_sample_tops", "rf_sample_masses", "rf_sample_borders", "rf_sample"
  };

  /** Per kernel, the index of its parameter for the first output. */
  private static final int[] FIRST = {6, 5, 5, 9};

  private static final int THREADS = 256;
  private static final int SLICE = 4096;
  private static final int BINS = 4096;
  private static final int SCRATCH_BYTES = 177192;
  private static final int SHARED_BYTES = Long.BYTES * (THREADS / 32 + 1) + 4 * Integer.BYTES;
  private static final int BIN_BYTES = Long.BYTES * BINS;
  private static final int COUNT_BYTES = Integer.BYTES * BINS;

  private final DeviceMemory powers;
  private final DeviceMemory scratch;
  private final int vocabSize;
  private final KernelLaunch[] launches = new KernelLaunch[KERNELS.length];

  /**
   * @param step the step's metadata, in the layout {@code layout}
   * @param logits rows of {@code vocabSize} floats
   * @param ring sampled tokens
   * @param outputs largest number of outputs per call of {@link #sample}
   */
  public SamplingKernel(
      CudaContext context,
      KernelModule module,
      StepLayout layout,
      DeviceMemory step,
      DeviceMemory logits,
      DeviceMemory ring,
      StepResults results,
      int vocabSize,
      int outputs) {
    this.vocabSize = vocabSize;
    double[] table = FixedPointExp.powers();
    powers = context.allocate((long) table.length * Double.BYTES, "the exponential's table");
    powers.write(Pointer.to(table), powers.bytes());
    scratch = context.allocate(scratchBytes(outputs), "sampling");
    for (int i = 0; i < KERNELS.length; i++) {
      launches[i] =
          module
              .launch(KERNELS[i])
              .pointer(step)
              .pointer(step, (long) layout.sampling() * Integer.BYTES)
              .pointer(logits)
              .pointer(powers)
              .pointer(scratch)
              .block(THREADS);
    }
    launches[0].pointer(ring).shared(SHARED_BYTES);
    launches[1].shared(SHARED_BYTES + BIN_BYTES + COUNT_BYTES);
    launches[2].shared(SHARED_BYTES + BIN_BYTES);
    launches[3]
        .pointer(ring)
        .pointer(results.heads())
        .pointer(results.topIds())
        .pointer(results.topLogits())
        .shared(SHARED_BYTES + BIN_BYTES);
    for (KernelLaunch launch : launches) {
      launch.integer(0).integer(vocabSize).integer(new FixedPointExp(vocabSize).scaleBits());
    }
  }

  /** Bytes of scratch memory for {@code outputs} outputs, without a small table. */
  static long scratchBytes(int outputs) {
    return (long) SCRATCH_BYTES * outputs;
  }

  /** Queues the draws of outputs {@code from} to {@code from + count - 1}. */
  public void sample(int from, int count, CudaStream stream) {
    for (int i = 0; i < launches.length; i++) {
      launches[i].setInteger(FIRST[i], from);
      launches[i].grid((vocabSize + SLICE - 1) / SLICE, count, 1).on(stream);
    }
  }

  @Override
  public void close() {
    scratch.close();
    powers.close();
  }
}
