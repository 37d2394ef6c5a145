package io.radixflow.jobs.cli;

import io.radixflow.jobs.local.LocalStack;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** Keeps a started stack in the foreground until the process is told to end, then stops it. */
final class Foreground {
  private final CliCommand command;

  Foreground(CliCommand command) {
    this.command = command;
  }

  /**
   * Announces the stack and waits for the end of the process or an interrupt.
   *
   * @throws InterruptedException if the thread is interrupted; the stack is stopped then
   */
  void run(LocalStack stack, Consumer<LocalStack> announce)
      throws IOException, InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    Thread hook = new Thread(() -> stop(stack, end), "stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      announce.accept(stack);
      end.await();
    } catch (InterruptedException e) {
      Runtime.getRuntime().removeShutdownHook(hook);
      stack.close();
      throw e;
    }
  }

  private void stop(LocalStack stack, CountDownLatch end) {
    command.err().println("stopping");
    command.err().flush();
    try {
      stack.close();
    } catch (IOException | RuntimeException e) {
      command.err().println("radixflow: " + Errors.line(e));
      command.err().flush();
    }
    end.countDown();
  }
}
