package io.radixflow.cli.command.common;

import java.lang.reflect.Constructor;
import picocli.CommandLine;
import picocli.CommandLine.IFactory;

/** Creates commands and passes the environment to constructors that take it. */
public final class CommandFactory implements IFactory {
  private final CliEnvironment environment;

  public CommandFactory(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public <K> K create(Class<K> type) throws Exception {
    if (!CliCommand.class.isAssignableFrom(type)) {
      return CommandLine.defaultFactory().create(type);
    }
    Constructor<K> constructor = type.getDeclaredConstructor(CliEnvironment.class);
    constructor.setAccessible(true); // commands are package-private
    return constructor.newInstance(environment);
  }
}
