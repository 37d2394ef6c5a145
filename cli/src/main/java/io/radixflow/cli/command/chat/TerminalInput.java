package io.radixflow.cli.command.chat;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;

/**
 * Reads lines with line editing on the process's terminal, or plain lines if the process has no
 * terminal.
 */
final class TerminalInput implements ChatInput, AutoCloseable {
  private final Terminal terminal;
  private final LineReader reader;
  private final AtomicReference<Runnable> action = new AtomicReference<>();
  private Thread reading;
  private boolean ended;

  private TerminalInput(Terminal terminal) {
    this.terminal = terminal;
    reader =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
            .build();
    terminal.handle(Terminal.Signal.INT, signal -> interrupted());
  }

  static TerminalInput open() throws IOException {
    return new TerminalInput(TerminalBuilder.builder().system(true).dumb(true).build());
  }

  private void interrupted() {
    Runnable current = action.get();
    if (current != null) {
      current.run();
    }
  }

  @Override
  public String readLine(String prompt) {
    begin();
    try {
      return reader.readLine(prompt);
    } catch (UserInterruptException e) {
      throw hasEnded() ? new EndOfFileException() : e;
    } finally {
      finish();
    }
  }

  private synchronized void begin() {
    if (ended) {
      throw new EndOfFileException();
    }
    reading = Thread.currentThread();
  }

  private synchronized void finish() {
    reading = null;
    if (ended) {
      // the interrupt was only meant for the reader
      Thread.interrupted();
    }
  }

  private synchronized boolean hasEnded() {
    return ended;
  }

  @Override
  public synchronized void end() {
    ended = true;
    if (reading != null) {
      reading.interrupt();
    }
  }

  @Override
  public void onInterrupt(Runnable next) {
    action.set(next);
  }

  @Override
  public void close() throws IOException {
    terminal.close();
  }
}
