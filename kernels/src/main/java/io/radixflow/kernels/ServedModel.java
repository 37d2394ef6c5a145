package io.radixflow.kernels;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.sampling.SamplingDefaults;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.tokenizer.Tokenizer;

/**
 * A model that is ready to serve: shape, text, and the way onto a device. Safe for many threads.
 */
public interface ServedModel extends AutoCloseable {

  /** A name for people, logs and replies. */
  String name();

  /**
   * Identifies what computes replies: models with different weights have different ones. The first
   * call may take seconds; later ones take no time.
   */
  String fingerprint();

  /** The model's shape. */
  ModelConfig config();

  Tokenizer tokenizer();

  ChatTemplate chatTemplate();

  /** The ids before a text that no chat template made: BOS, if the model's tokenizer adds it. */
  default int[] promptStart() {
    return new int[0];
  }

  /** What the model's authors advise about sampling. */
  default SamplingDefaults samplingDefaults() {
    return SamplingDefaults.NONE;
  }

  /** Loads the weights onto a device; takes seconds. The caller closes the backend. */
  Backend openBackend(DeviceOptions options);

  /** Releases the files; backends that were opened stay usable. */
  @Override
  void close();
}
