package io.radixflow.tools.cli.common;

import io.radixflow.tools.local.LocalStack;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * Keeps a started stack in the foreground until the process is asked to end or the job ends by
 * itself, then stops it.
 */
public final class Foreground {
  private final CliCommand command;
  private final LocalServing serving;

  public Foreground(CliCommand command, LocalServing serving) {
    this.command = command;
    this.serving = serving;
  }

  /**
   * Prints the stack's addresses and waits for its end; stops it in any case.
   *
   * @throws ExecutionException if the job ended by itself; its cause says what to do
   * @throws InterruptedException if the thread is interrupted
   */
  public void run(LocalStack stack, Consumer<LocalStack> announce)
      throws IOException, InterruptedException, ExecutionException {
    Thread hook = new Thread(() -> stop(stack), "stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try (stack) {
      announce.accept(stack);
      serving.end(stack).get();
    } finally {
      forget(hook);
    }
  }

  private void stop(LocalStack stack) {
    command.err().println("stopping");
    command.err().flush();
    try {
      stack.close();
    } catch (IOException | RuntimeException e) {
      command.err().println("radixflow: " + Errors.line(e));
      command.err().flush();
    }
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shuttingDown) {
      // the hook runs already
    }
  }
}
