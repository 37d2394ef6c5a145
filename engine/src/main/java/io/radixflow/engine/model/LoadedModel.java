package io.radixflow.engine.model;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.CudaSupport;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.file.ModelFile;
import io.radixflow.text.TextModel;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A model from files, and the devices of this build that can run it. */
record LoadedModel(ModelFile file, TextModel text, MemorySource memory) implements ServedModel {
  private static final Logger LOG = LoggerFactory.getLogger(LoadedModel.class);

  @Override
  public String name() {
    return file.config().name();
  }

  @Override
  public String fingerprint() {
    return file.fingerprint();
  }

  @Override
  public ModelConfig config() {
    return file.config();
  }

  @Override
  public Optional<MemoryNeeds> heapNeeds() {
    return Optional.of(CpuBackend.memoryNeeds(file));
  }

  @Override
  public Optional<MemoryNeeds> gpuNeeds() {
    return Optional.of(CudaBackend.memoryNeeds(file));
  }

  @Override
  public Backend openBackend(DeviceOptions options) {
    return openBackend(options, PoolRequest.NONE, ModelProgress.NONE);
  }

  @Override
  public Backend openBackend(DeviceOptions options, PoolRequest pool, ModelProgress progress) {
    DeviceName device = options.name();
    return switch (device.kind()) {
      case AUTO -> openBest(options, pool, progress);
      case CPU -> CpuBackend.open(file, options, pool, memory, progress);
      case CUDA -> openGpu(options, pool, Math.max(0, device.index()));
      case SIM ->
          throw new IllegalArgumentException(
              "device sim cannot run a model file; use auto, cpu or cuda");
    };
  }

  private Backend openGpu(DeviceOptions options, PoolRequest pool, int ordinal) {
    String problem = CudaSupport.probe().problem(ordinal);
    if (problem != null) {
      throw new IllegalArgumentException(
          "device " + options.device() + " cannot be used: " + problem);
    }
    return CudaBackend.open(file, options, pool, ordinal);
  }

  /** Opens a GPU if one can run the model, else the CPU; the log says why. */
  private Backend openBest(DeviceOptions options, PoolRequest pool, ModelProgress progress) {
    boolean cpuAsked = options.kvType() == KvSpec.Type.F32 || options.kvType() == KvSpec.Type.F16;
    if (cpuAsked || CudaSupport.isDriverGiven()) {
      return CpuBackend.open(file, options, pool, memory, progress);
    }
    String problem = CudaSupport.probe().problem(0);
    if (problem == null) {
      try {
        return CudaBackend.open(file, options, pool, 0);
      } catch (IllegalArgumentException e) {
        problem = e.getMessage();
        LOG.warn("The GPU cannot run this model, the CPU will: {}", problem);
      }
    } else {
      LOG.info("No GPU is used: {}", problem);
    }
    return CpuBackend.open(file, options, pool, memory, progress);
  }

  @Override
  public void close() {
    file.close();
  }
}
