package io.radixflow.kernels.cuda;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.WeightSource;
import io.radixflow.text.TextModel;
import java.util.function.IntFunction;

/** A tiny random model on the GPU of tests, with the simulated model's text. */
public final class ServedOnGpu implements ServedModel {

  private final SimModel text = SimModel.open(SimOptions.DEFAULT);
  private final WeightSource weights;

  public ServedOnGpu() {
    this(CudaModels::llama);
  }

  /**
   * @param model makes a model with so many tokens
   */
  public ServedOnGpu(IntFunction<ModelConfig> model) {
    weights = CudaModels.weights(model.apply(text.tokenizer().vocabSize()));
  }

  @Override
  public String name() {
    return "tiny";
  }

  @Override
  public String fingerprint() {
    return weights.fingerprint();
  }

  @Override
  public ModelConfig config() {
    return weights.config();
  }

  @Override
  public TextModel text() {
    return text.text();
  }

  /** The weights, for a reference. */
  public WeightSource weights() {
    return weights;
  }

  @Override
  public Backend openBackend(DeviceOptions options) {
    EmulatedGpu.require();
    return CudaBackend.open(weights, options, 0);
  }

  @Override
  public void close() {
    text.close();
  }
}
