package io.radixflow.operators.api;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.hub.ModelResolver;
import io.radixflow.models.hub.ResolverOptions;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.tiers.ModelEngineFactory;
import io.radixflow.protocol.PublicApi;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the engine of {@link Conversations} from the name of a model. */
@PublicApi
public final class ModelEngine {
  private static final Logger LOG = LoggerFactory.getLogger(ModelEngine.class);

  private ModelEngine() {}

  /**
   * Returns a factory of engines with default options on the best device of the TaskManager.
   *
   * @param model a GGUF file, a Hugging Face directory, a hub name, or {@code sim}
   */
  public static EngineFactory of(String model) {
    return of(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT);
  }

  /** Returns a factory of engines with the given options. */
  public static EngineFactory of(String model, DeviceOptions device, EngineOptions options) {
    return new ModelEngineFactory(ModelEngine::open, model, device, options);
  }

  /**
   * Opens a model on this machine; fetches it from the hub if it is not in the model cache.
   *
   * @throws IOException if the model cannot be found or read; the message says what to do
   */
  public static ServedModel open(String model) throws IOException {
    return ModelLoader.open(model, ModelEngine::locate);
  }

  private static Path locate(String model) throws IOException {
    return new ModelResolver(ResolverOptions.fromEnvironment(false), new Logged())
        .resolve(model)
        .path();
  }

  /** Logs the start and the end of a download. */
  private static final class Logged implements ModelProgress {
    @Override
    public void step(String text) {
      LOG.info("{}", text);
    }

    @Override
    public void begin(String what, long totalBytes, long doneBytes) {
      LOG.info("Fetching {}: {} of {} bytes are present", what, doneBytes, totalBytes);
    }

    @Override
    public void advance(long bytes) {}

    @Override
    public void end() {
      LOG.info("Fetched the model");
    }
  }
}
