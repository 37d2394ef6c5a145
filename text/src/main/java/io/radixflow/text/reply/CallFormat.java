package io.radixflow.text.reply;

import io.radixflow.text.reply.json.CallArguments;
import io.radixflow.text.reply.json.Scan;
import java.util.List;

/** The form in which a model writes function calls in its reply. Stateless. */
interface CallFormat {

  /**
   * A call whose name is known and whose arguments begin. From here on the text stays a call.
   *
   * @param open whether the object that contains the call must still be closed
   * @param marked whether a mark began the call's block
   */
  record Call(
      String name, CallArguments arguments, boolean open, boolean marked, CallFormat format) {}

  /** Texts with which a call may begin, anywhere in the reply. */
  List<String> markers();

  /** Texts with which a call may begin, only at the start of the reply. */
  default List<String> leading() {
    return List.of();
  }

  /**
   * Returns the texts with which a call without a mark may begin, up to its arguments, without
   * white space.
   */
  default List<String> beginnings(String name) {
    return List.of();
  }

  /** Reads a call up to its arguments; null if the text here is not a call. */
  Call head(Scan scan, Functions functions);

  /** Reads the end of a call after its arguments; false if the text here is not such an end. */
  default boolean end(Scan scan, Call call) {
    return true;
  }

  /**
   * Reads the next call of the same block up to its arguments; null if there is none.
   *
   * @param marked whether a mark began the block
   */
  default Call next(Scan scan, Functions functions, boolean marked) {
    return scan.fail();
  }

  /** Reads the end of a block of calls; false if the text here is not such an end. */
  default boolean close(Scan scan) {
    return false;
  }

  /** Texts that end a block of calls. They are dropped after a block. */
  List<String> closers();

  /** Texts that end a call with broken arguments. */
  default List<String> ends() {
    return closers();
  }

  /** Characters that may close a call between broken arguments and the call's end. */
  default String brackets() {
    return "";
  }

  /**
   * Returns the part of the white space and brackets before a call's end that belongs to broken
   * arguments.
   */
  default String closed(String tail) {
    return tail.stripTrailing();
  }
}
