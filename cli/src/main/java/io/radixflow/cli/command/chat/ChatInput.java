package io.radixflow.cli.command.chat;

import org.jline.reader.EndOfFileException;
import org.jline.reader.UserInterruptException;

/** The lines that a user types. */
interface ChatInput {

  /**
   * The next line.
   *
   * @throws UserInterruptException on Ctrl-C
   * @throws EndOfFileException at the end of the input, and after {@link #end()}
   */
  String readLine(String prompt);

  /** Sets what Ctrl-C runs while no line is read; null for nothing. */
  void onInterrupt(Runnable action);

  /** Ends the input, even if another thread waits for a line; any thread may call it. */
  void end();
}
