package io.radixflow.operators.flink;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.operators.engine.ContinuousBatchingEngine;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.engine.KvEventSink;
import java.io.Serializable;
import java.nio.file.Path;

/**
 * Opens the engine of continuous batching on a model.
 *
 * @param source finds and opens the model, on the TaskManager
 * @param model what {@code source} finds it by
 * @param device where it runs
 * @param options the engine's sizes and bounds
 * @param events opens what the changes of its cache go to; null if nobody wants them
 */
public record ModelEngineOpener(
    Source source,
    String model,
    DeviceOptions device,
    EngineOptions options,
    KvEventSink.Factory events)
    implements EngineOpener {

  /** Finds and opens a model; travels in the job graph. */
  @FunctionalInterface
  public interface Source extends Serializable {
    /**
     * @throws Exception if the model cannot be had; the message is for people
     */
    ServedModel open(String model) throws Exception;
  }

  /** Of engines that tell nobody what is in their caches. */
  public ModelEngineOpener(
      Source source, String model, DeviceOptions device, EngineOptions options) {
    this(source, model, device, options, null);
  }

  @Override
  public EngineOpener publishing(KvEventSink.Factory sink) {
    return new ModelEngineOpener(source, model, device, options, sink);
  }

  @Override
  public boolean needsGpu() {
    return device.name().kind() == DeviceName.Kind.CUDA;
  }

  @Override
  public EngineOpener onGpu(int index) {
    DeviceName named = device.name();
    boolean may = named.kind() == DeviceName.Kind.AUTO && !model.equals(ModelLoader.SIM);
    return named.index() < 0 && (may || needsGpu())
        ? new ModelEngineOpener(source, model, device.on("cuda:" + index), options, events)
        : this;
  }

  @Override
  public String identity() {
    return model + "\n" + device + "\n" + options;
  }

  @Override
  public ServingEngine open(Path crashJournal) throws Exception {
    ServedModel served = source.open(model);
    try {
      return new ServingEngine(
          ContinuousBatchingEngine.open(served, device, options, events, crashJournal), served);
    } catch (RuntimeException | Error e) {
      served.close();
      throw e;
    }
  }
}
