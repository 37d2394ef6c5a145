package io.radixflow.kernels.cpu;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.cpu.kernel.KernelProvider;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.WeightSource;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The bits of the logits of some small models, as one digest. Also a program, for JVMs with other
 * vector widths: {@code ArithmeticDigest scalar|vector|best} prints vector bits and digest.
 */
public final class ArithmeticDigest {

  private static final int TOKENS = 37;
  private static final int CHUNK = 11;

  private ArithmeticDigest() {}

  /** Prints vector bits and the digest. */
  public static void main(String[] arguments) throws Exception {
    Kernels kernels =
        switch (arguments[0]) {
          case "scalar" -> new ScalarKernels();
          case "vector" -> KernelProvider.vector().orElseThrow();
          default -> KernelProvider.best();
        };
    System.out.println(kernels.vectorBits() + " " + of(kernels));
  }

  /** SHA-256 over the logits of every position of every model. */
  static String of(Kernels kernels) throws InterruptedException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    add(digest, kernels, SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1), KvSpec.Type.F32);
    add(digest, kernels, SyntheticWeights.of(Shapes.qwen2(), TensorType.Q8_0), KvSpec.Type.F16);
    add(digest, kernels, SyntheticWeights.of(Shapes.qwen3(), TensorType.BF16), KvSpec.Type.F32);
    add(digest, kernels, SyntheticWeights.of(Shapes.odd(), TensorType.F16), KvSpec.Type.F16);
    return HexFormat.of().formatHex(digest.digest());
  }

  private static void add(
      MessageDigest digest, Kernels kernels, WeightSource weights, KvSpec.Type kvType)
      throws InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 2, kvType);
    int[] tokens = Sequences.randomTokens(TOKENS, weights.config().vocabSize(), 3);
    try (CpuBackend backend = CpuBackend.open(weights, options, kernels)) {
      backend.openPool(4, CpuKvPool.PAGE_TOKENS);
      for (float[] row : Sequences.logits(backend, tokens, CHUNK, Sequences.pages(TOKENS))) {
        ByteBuffer bytes = ByteBuffer.allocate(row.length * Float.BYTES);
        bytes.asFloatBuffer().put(row);
        digest.update(bytes);
      }
    }
  }
}
