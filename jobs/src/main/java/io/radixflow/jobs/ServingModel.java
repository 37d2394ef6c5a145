package io.radixflow.jobs;

import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.model.hub.ModelProgress;
import io.radixflow.kernels.model.hub.ModelResolver;
import io.radixflow.kernels.model.hub.ResolverOptions;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the model on a TaskManager, fetching it there if need be. */
final class ServingModel {

  private static final Logger LOG = LoggerFactory.getLogger(ServingModel.class);

  private ServingModel() {}

  static ServedModel open(String model) throws IOException {
    return ModelLoader.open(model, ServingModel::locate);
  }

  private static Path locate(String model) throws IOException {
    return new ModelResolver(ResolverOptions.fromEnvironment(false), new Logged())
        .resolve(model)
        .path();
  }

  /** Progress for the log: steps, not bytes. */
  private static final class Logged implements ModelProgress {
    @Override
    public void step(String text) {
      LOG.info("{}", text);
    }

    @Override
    public void begin(String what, long totalBytes, long doneBytes) {
      LOG.info("fetching {}: {} of {} bytes are here", what, doneBytes, totalBytes);
    }

    @Override
    public void advance(long bytes) {}

    @Override
    public void end() {
      LOG.info("fetched");
    }
  }
}
