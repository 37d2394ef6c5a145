package io.radixflow.cli.command.chat;

import org.jline.reader.EndOfFileException;
import org.jline.reader.UserInterruptException;

/** The input lines of a user. */
interface ChatInput {

  /**
   * Reads the next line.
   *
   * @throws UserInterruptException on Ctrl-C
   * @throws EndOfFileException at the end of the input, and after {@link #end()}
   */
  String readLine(String prompt);

  /** Sets the action of Ctrl-C while no line is read; null for none. */
  void onInterrupt(Runnable action);

  /** Ends the input, even if another thread waits for a line; any thread may call it. */
  void end();
}
