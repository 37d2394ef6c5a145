package io.radixflow.cli.command.common;

import io.radixflow.cli.local.BrokerFailure;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.ServingSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.apache.flink.util.ExceptionUtils;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of commands that run the job in this process, and the start of the job. */
public final class LocalServing {
  public @Mixin ModelOptions model;
  public @Mixin SettingsOptions settings;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Keep conversations in this directory and resume from it (default: up keeps them in a"
              + " directory of the user, which it prints; chat and run keep nothing).")
  Path directory;

  /** Returns the directory in which conversations are kept; empty if nothing is kept. */
  public Optional<Path> directory() {
    return Optional.ofNullable(directory);
  }

  /**
   * Sets the directory in which conversations are kept if the user named none.
   *
   * @param fallback the directory
   */
  public void keepIn(Path fallback) {
    directory = directory == null ? fallback : directory;
  }

  /** Starts the job with its own broker. */
  public LocalStack startWithBroker(CliCommand command, int port, int metricsPort)
      throws IOException {
    return startWithBroker(command, settings.load(command, model), port, metricsPort);
  }

  /**
   * Starts the job with its own broker and with settings that were loaded before. The job publishes
   * the conversation index, unless the settings switch it off.
   */
  public LocalStack startWithBroker(CliCommand command, Settings loaded, int port, int metricsPort)
      throws IOException {
    Settings indexed =
        loaded.isGiven(SharedConfig.INDEX) ? loaded : loaded.with(SharedConfig.INDEX, true);
    return start(command, indexed, true, port, metricsPort);
  }

  /**
   * Starts the job against existing brokers.
   *
   * @param bootstrap address of the brokers; null for the address in the settings
   */
  public LocalStack start(CliCommand command, String bootstrap) throws IOException {
    Settings all = settings.load(command, model);
    return start(
        command,
        bootstrap == null ? all : all.with(KafkaConfig.BOOTSTRAP_SERVERS, bootstrap),
        false,
        0,
        0);
  }

  /**
   * Returns the end of a stack's job. It completes when the stack was closed, and fails with a
   * {@link CliException} with the remedy as soon as the job has ended by itself.
   */
  public CompletableFuture<Void> end(LocalStack stack) {
    return stack
        .end()
        .exceptionallyCompose(
            failure -> {
              Throwable cause = ExceptionUtils.stripCompletionException(failure);
              String message = Errors.line(cause) + "; " + CliLogging.place() + "; " + howToGoOn();
              return CompletableFuture.failedFuture(new CliException(message, cause));
            });
  }

  /**
   * Announces a stack, waits until its job or the process ends, and stops it.
   *
   * @throws ExecutionException if the job ended by itself; its cause has the remedy
   */
  public void run(LocalStack stack, Consumer<LocalStack> announce)
      throws IOException, InterruptedException, ExecutionException {
    try (stack) {
      announce.accept(stack);
      end(stack).get();
    }
  }

  private String howToGoOn() {
    return directory == null
        ? "conversations were not kept (--directory keeps them); see to the cause and start again"
        : "see to the cause and start again: conversations in "
            + directory
            + " continue from their last checkpoint";
  }

  private LocalStack start(
      CliCommand command, Settings all, boolean broker, int port, int metricsPort)
      throws IOException {
    String name = all.get(SharedConfig.MODEL);
    LocatedModel located = model.locate(command, name);
    Settings served = all.with(SharedConfig.MODEL, located.location());
    LocalStack.Options options =
        new LocalStack.Options(Optional.ofNullable(directory), broker, port, metricsPort);
    if (broker) {
      new BrokerFailure(
              directory().orElse(Path.of(System.getProperty("java.io.tmpdir"))),
              message -> {
                command.err().println("\nradixflow: " + message + "; " + CliLogging.place());
                command.err().flush();
              })
          .watch();
    }
    try (Progress progress = command.progress("starting")) {
      return LocalStack.start(
          served, options, ServingSettings.engine(served, LocatedModel::open), progress::detail);
    }
  }
}
