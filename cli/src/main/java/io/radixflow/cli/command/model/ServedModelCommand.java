package io.radixflow.cli.command.model;

import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.engine.model.ServedModel;
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
