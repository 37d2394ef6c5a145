package io.radixflow.jobs.cli;

import java.lang.reflect.Constructor;
import picocli.CommandLine;
import picocli.CommandLine.IFactory;

/** Makes commands, giving the environment to those whose constructor takes it. */
final class CommandFactory implements IFactory {
  private final CliEnvironment environment;

  CommandFactory(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public <K> K create(Class<K> type) throws Exception {
    if (!CliCommand.class.isAssignableFrom(type)) {
      return CommandLine.defaultFactory().create(type);
    }
    Constructor<K> constructor = type.getDeclaredConstructor(CliEnvironment.class);
    return constructor.newInstance(environment);
  }
}
