package io.radixflow.tools.cli.model;

import io.radixflow.kernels.ServedModel;
import io.radixflow.tools.cli.common.CliEnvironment;
import java.io.IOException;

/** A command that answers its lines with a model and its weights. */
abstract class ServedModelCommand extends JsonLinesCommand<ServedModel> {

  ServedModelCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  final ServedModel open() throws IOException {
    return modelOptions.open(this);
  }

  @Override
  final void close(ServedModel model) {
    model.close();
  }
}
