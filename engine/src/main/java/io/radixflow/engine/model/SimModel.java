package io.radixflow.engine.model;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Rope;
import io.radixflow.text.SimText;
import io.radixflow.text.SimTokenizer;
import io.radixflow.text.TextModel;

/**
 * The model {@code sim}: bytes as tokens, ChatML as template, and replies of readable nonsense that
 * are a pure function of the prompt. Needs no file.
 */
public final class SimModel implements ServedModel {
  private final SimOptions options;
  private final TextModel text = SimText.open();
  private final ModelConfig config;

  private SimModel(SimOptions options) {
    this.options = options;
    this.config =
        ModelConfig.uniform(
            "sim",
            "sim",
            SimTokenizer.VOCAB,
            options.contextLength(),
            1,
            1,
            1,
            1,
            1,
            1,
            1e-5f,
            new Rope(10_000, false, null),
            false,
            false,
            true);
  }

  /** The simulated model. */
  public static SimModel open(SimOptions options) {
    return new SimModel(options);
  }

  @Override
  public String name() {
    return "sim";
  }

  @Override
  public String fingerprint() {
    return "sim-"
        + options.endOfTurn()
        + (options.calls() ? "-calls" : "")
        + (options.window() > 0 ? "-window-" + options.window() : "");
  }

  @Override
  public ModelConfig config() {
    return config;
  }

  @Override
  public TextModel text() {
    return text;
  }

  /**
   * Starts a simulated device.
   *
   * @throws IllegalArgumentException if another device is asked for
   */
  @Override
  public Backend openBackend(DeviceOptions device) {
    if (!device.device().equals("auto") && !device.device().equals("sim")) {
      throw new IllegalArgumentException(
          "the model sim runs on the device sim only, not on " + device.device());
    }
    return new SimBackend(config, options);
  }

  @Override
  public void close() {}
}
