package io.radixflow.text.reply;

import io.radixflow.text.reply.json.CallArguments;
import io.radixflow.text.reply.json.Scan;
import java.util.List;

/** The form in which a model writes calls of functions into its reply. Stateless. */
interface CallFormat {

  /**
   * A call whose name is known and whose arguments begin: from here on it stays a call.
   *
   * @param open whether the object that holds the call is still to be closed
   * @param marked whether a mark began its block
   */
  record Call(
      String name, CallArguments arguments, boolean open, boolean marked, CallFormat format) {}

  /** Texts that a call may begin with, anywhere in the reply. */
  List<String> markers();

  /** Texts that a call may begin with at the start of the reply alone. */
  default List<String> leading() {
    return List.of();
  }

  /** Returns how a call without a mark may begin, up to its arguments, without white space. */
  default List<String> beginnings(String name) {
    return List.of();
  }

  /** Reads a call up to its arguments; null if there is none. */
  Call head(Scan scan, Functions functions);

  /** Reads the end of a call after its arguments; false if the text there is something else. */
  default boolean end(Scan scan, Call call) {
    return true;
  }

  /**
   * Reads the head of the next call of the same block; null if there is none.
   *
   * @param marked whether a mark began the block
   */
  default Call next(Scan scan, Functions functions, boolean marked) {
    return scan.fail();
  }

  /** Reads the end of a block of calls; false if the text there is something else. */
  default boolean close(Scan scan) {
    return false;
  }

  /** Texts that end a block of calls, and have no meaning after one. */
  List<String> closers();

  /** Texts that end a call whose arguments are not in the format's form. */
  default List<String> ends() {
    return closers();
  }

  /** Characters that may close a call between broken arguments and its end. */
  default String brackets() {
    return "";
  }

  /**
   * Returns what belongs to broken arguments of the white space and brackets before a call's end.
   */
  default String closed(String tail) {
    return tail.stripTrailing();
  }
}
