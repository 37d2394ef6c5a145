package io.radixflow.kernels.text.message;

import io.radixflow.kernels.text.message.json.Arguments;
import io.radixflow.kernels.text.message.json.Scan;
import java.util.List;
import java.util.Map;

/** The form in which a model writes calls of functions into its reply. Stateless. */
interface CallFormat {

  /**
   * A call whose name is known and whose arguments begin: from here on it stays a call.
   *
   * @param open whether the object that holds the call is still to be closed
   */
  record Call(String name, Arguments arguments, boolean open, CallFormat format) {}

  /** Texts that a call may begin with, anywhere in the reply. */
  List<String> markers();

  /** Texts that a call may begin with at the start of the reply alone. */
  default List<String> leading() {
    return List.of();
  }

  /** Reads a call up to its arguments; null if there is none of a known function. */
  Call head(Scan scan, Map<String, Tool> tools);

  /** Reads what ends a call after its arguments; false if something else stands there. */
  default boolean end(Scan scan, Call call) {
    return true;
  }

  /** Reads the head of the next call of the same block; null if there is none. */
  default Call next(Scan scan, Map<String, Tool> tools) {
    return scan.fail();
  }

  /** Reads what ends a block of calls; false if something else stands there. */
  default boolean close(Scan scan) {
    return false;
  }
}
