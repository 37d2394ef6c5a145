package io.radixflow.kernels;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFile;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.text.ChatTemplate;
import io.radixflow.kernels.text.TextModel;
import io.radixflow.kernels.text.Tokenizer;

/** A model from files, with the devices that this build has for it. */
final class LoadedModel implements ServedModel {

  private final ModelFile file;
  private final TextModel text;

  LoadedModel(ModelFile file, TextModel text) {
    this.file = file;
    this.text = text;
    int tokens = text.tokenizer().vocabSize();
    int rows = file.config().vocabSize();
    if (tokens > rows) {
      throw new ModelFormatException(
          file.path() + ": the tokenizer has " + tokens + " tokens, the embedding " + rows);
    }
  }

  @Override
  public String name() {
    return file.config().name();
  }

  @Override
  public ModelConfig config() {
    return file.config();
  }

  @Override
  public Tokenizer tokenizer() {
    return text.tokenizer();
  }

  @Override
  public ChatTemplate chatTemplate() {
    return text.chatTemplate();
  }

  @Override
  public Backend openBackend(DeviceOptions options) {
    return switch (options.name().kind()) {
      case AUTO, CPU -> CpuBackend.open(file.weights(), options);
      case CUDA, SIM ->
          throw new IllegalArgumentException(
              "device " + options.device() + " cannot run a model file; use auto or cpu");
    };
  }

  @Override
  public void close() {
    file.close();
  }
}
