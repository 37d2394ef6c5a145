package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * The bits of the logits of some small models, as one digest. Also a program, for JVMs with other
 * flags: {@code ArithmeticDigest scalar|best} prints vector bits and digest. An instruction set
 * behind it, such as {@code AVX2}, has native kernels in it.
 */
public final class ArithmeticDigest {

  private static final int TOKENS = 37;
  private static final int CHUNK = 11;

  private record Model(ModelConfig shape, TensorType type, KvSpec.Type kvType) {}

  /** Codes are multiplied in floats with f32 and in integers with the other KV types. */
  private static final List<Model> MODELS =
      List.of(
          new Model(Shapes.llama(), TensorType.Q4_1, KvSpec.Type.F32),
          new Model(Shapes.qwen2(), TensorType.Q8_0, KvSpec.Type.F16),
          new Model(Shapes.qwen3(), TensorType.BF16, KvSpec.Type.F32),
          new Model(Shapes.odd(), TensorType.F16, KvSpec.Type.F16),
          new Model(Shapes.llama(), TensorType.Q4_0, KvSpec.Type.F32),
          new Model(Shapes.llama(), TensorType.Q4_0, KvSpec.Type.F16),
          new Model(Shapes.llama(), TensorType.Q4_1, KvSpec.Type.FP8),
          new Model(Shapes.wide(), TensorType.Q4_K, KvSpec.Type.F32),
          new Model(Shapes.wide(), TensorType.Q4_K, KvSpec.Type.F16),
          new Model(Shapes.wide(), TensorType.Q6_K, KvSpec.Type.F32),
          new Model(Shapes.wide(), TensorType.Q6_K, KvSpec.Type.F16),
          new Model(Shapes.wide(), TensorType.Q2_K, KvSpec.Type.F16),
          new Model(Shapes.mixture(), TensorType.MXFP4, KvSpec.Type.F16),
          new Model(Shapes.mixture(), TensorType.INT8, KvSpec.Type.FP8));

  private ArithmeticDigest() {}

  /** Prints vector bits and the digest. */
  public static void main(String[] arguments) throws Exception {
    Kernels kernels = arguments[0].equals("scalar") ? new ScalarKernels() : KernelProvider.best();
    NativeKernels fast =
        arguments.length > 1
            ? new NativeKernels(NativeKernels.Isa.valueOf(arguments[1]))
            : arguments[0].equals("best") ? KernelProvider.nativeKernels().orElse(null) : null;
    System.out.println(kernels.vectorBits() + " " + of(kernels, fast));
  }

  /**
   * SHA-256 over the logits of every position of every model.
   *
   * @param fast native kernels, or null for Java
   */
  static String of(Kernels kernels, NativeKernels fast)
      throws InterruptedException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (Model model : MODELS) {
      add(digest, kernels, fast, model);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static void add(MessageDigest digest, Kernels kernels, NativeKernels fast, Model model)
      throws InterruptedException {
    WeightSource weights = SyntheticWeights.of(model.shape, model.type);
    DeviceOptions options = new DeviceOptions("cpu", 2, model.kvType);
    int[] tokens = Sequences.randomTokens(TOKENS, weights.config().vocabSize(), 3);
    try (CpuBackend backend = CpuBackend.open(weights, options, kernels, fast)) {
      backend.openPool(4, CpuKvPool.PAGE_TOKENS);
      for (float[] row : Sequences.logits(backend, tokens, CHUNK, Sequences.pages(TOKENS))) {
        ByteBuffer bytes = ByteBuffer.allocate(row.length * Float.BYTES);
        bytes.asFloatBuffer().put(row);
        digest.update(bytes);
      }
    }
  }
}
