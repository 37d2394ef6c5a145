package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import java.util.List;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CudaSupportTest {

  private static final CudaDevice HOPPER = new CudaDevice(0, "GPU", 1L << 36, 9, 0, 132, 227 << 10);
  private static final CudaDevice TURING = new CudaDevice(0, "GPU", 1L << 34, 7, 5, 40, 64 << 10);

  private static CudaSupport support(int driver, CudaDevice device, boolean code) {
    return new CudaSupport(driver, null, List.of(device), "nvcc was not found", code);
  }

  @Test
  void aDeviceWithDriverAndCodeHasNoProblem() {
    assertThat(support(13000, HOPPER, true).problem(0)).isNull();
  }

  @Test
  void theProblemNamesWhatIsMissing() {
    assertThat(support(13000, TURING, true).problem(0)).contains("7.5").contains("8.0 or higher");
    assertThat(support(13000, HOPPER, false).problem(0))
        .isEqualTo("this build contains no device code: nvcc was not found");
    assertThat(support(12080, HOPPER, true).problem(0))
        .contains("CUDA 12.8")
        .contains("driver 580 or newer");
    assertThat(support(13000, HOPPER, true).problem(1)).contains("no CUDA device 1");
    assertThat(new CudaSupport(0, "No CUDA driver.", List.of(), "", true).problem(0))
        .isEqualTo("No CUDA driver.");
  }

  @Test
  void theSelfTestPassesAndReportsADeviceThatFails() {
    EmulatedGpu.require();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
    assertThat(CudaSelfTest.run(0)).isNull();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.failLaunch("rf_sample", 1, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
      assertThat(CudaSelfTest.run(0)).contains("CUDA_ERROR_ILLEGAL_ADDRESS");
      EmulatedDriver.reset();
      assertThat(EmulatedDriver.deviceAllocations()).isZero();
    }
  }

  @Test
  void theSelfTestComparesASmallModelWithTheCpus() {
    EmulatedGpu.require();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
    assertThat(ModelSelfTest.compare(ModelSelfTest.weights(1), ModelSelfTest.weights(2), 0))
        .contains("differ from the CPU's");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rf_gemm_16x8",
        "rf_gemm_fast_16x16",
        "rf_gemm_fast_hopper_128x256",
        "rf_rope_store",
        "rf_attend_keys_80",
        "rf_attend_rows_128",
        "rf_gemm_q4_k_16x8",
        "rf_group_experts",
        "rf_choose_experts",
        "rf_add_experts",
        "rf_latent_store",
        "rf_attend_latent_512_64"
      })
  void theSelfTestCoversKernelsOfEachKind(String kernel) {
    EmulatedGpu.requireEmulated();
    EmulatedDriver.reset();
    EmulatedDriver.failLaunch(kernel, 1, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
    assertThat(CudaSelfTest.run(0)).contains("CUDA_ERROR_ILLEGAL_ADDRESS");
    EmulatedDriver.reset();
  }
}
