package io.radixflow.kernels.cuda.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.device.KvSpec;
import java.util.HashSet;
import java.util.Set;
import jcuda.Pointer;
import org.junit.jupiter.api.Test;

class CudaKvPoolTest extends KernelTest {

  @Test
  void randomPagesOf8BitFloatsHaveFiniteCodesAndScalesOnly() {
    CudaKvPool pool =
        closing(
            new CudaKvPool(context, CudaModels.qwen3(), KvSpec.Type.FP8, 100, 0, 16, () -> true));
    pool.memory().fillAsync((byte) 0x7f, stream);
    stream.synchronize();
    pool.fillRandom(module, stream);
    stream.synchronize();
    byte[] bytes = new byte[(int) pool.memory().bytes()];
    pool.memory().read(Pointer.to(bytes), bytes.length);
    Set<Byte> values = new HashSet<>();
    for (byte each : bytes) {
      values.add(each);
    }
    assertThat(values).hasSize(32).allMatch(code -> code >= 0x40 && code < 0x7f);
  }
}
