package io.radixflow.engine.model;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelProgress;
import io.radixflow.text.TextModel;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Optional;

/** A model that is ready to serve: its shape, its text, and a factory of backends. Thread-safe. */
public interface ServedModel extends AutoCloseable {

  /** Returns a name for logs and replies. */
  String name();

  /**
   * Returns an id of the weights: models with different weights have different fingerprints. The
   * first call may take seconds; later ones take no time.
   */
  String fingerprint();

  /** Returns the model's shape. */
  ModelConfig config();

  TextModel text();

  default Tokenizer tokenizer() {
    return text().tokenizer();
  }

  default ChatTemplate chatTemplate() {
    return text().chatTemplate();
  }

  /** Loads the weights onto a device; takes seconds. The caller closes the backend. */
  Backend openBackend(DeviceOptions options);

  /**
   * Loads the weights like {@link #openBackend(DeviceOptions)}, if the machine has enough memory
   * for them and for the pool.
   *
   * @param progress receives the bytes of the weights as they are loaded, if the device reports
   *     them
   * @throws IllegalArgumentException if there is not enough memory; the message has the numbers and
   *     the remedy
   */
  default Backend openBackend(DeviceOptions options, PoolRequest pool, ModelProgress progress) {
    return openBackend(options);
  }

  /** Returns the heap that the model needs on a CPU; empty if it is negligible. */
  default Optional<MemoryNeeds> heapNeeds() {
    return Optional.empty();
  }

  /**
   * Returns the GPU memory that the model needs; empty if the model cannot run on a GPU.
   *
   * @throws IllegalArgumentException if the GPU kernels do not support the model; the message says
   *     why
   */
  default Optional<MemoryNeeds> gpuNeeds() {
    return Optional.empty();
  }

  /** Releases the files; backends that were opened stay usable. */
  @Override
  void close();
}
