package io.radixflow.text.reply;

import io.radixflow.text.reply.json.Scan;
import java.util.List;

/**
 * Calls that are tags with a tag for each parameter: {@code <tool_call><function=f><parameter=a>1
 * </parameter></function></tool_call>}.
 *
 * @param block begins a block of calls, may be missing; empty if the format has none
 * @param blockEnd ends it
 * @param call text before the name
 * @param afterName text after the name; empty if the name ends at a line break or tag
 * @param parameter its form
 */
record TagCalls(String block, String blockEnd, String call, String afterName, Parameter parameter)
    implements CallFormat {

  /**
   * The form of a parameter.
   *
   * @param open text before its name
   * @param afterName text after its name
   * @param value text before its value
   * @param string text that replaces {@code value} before a value that is a string whatever the
   *     schema says; empty if the format has no such mark
   * @param close text after its value
   * @param callEnd ends the call after the last parameter
   * @param lines whether the value is on lines of its own
   */
  record Parameter(
      String open,
      String afterName,
      String value,
      String string,
      String close,
      String callEnd,
      boolean lines) {}

  @Override
  public List<String> markers() {
    return block.isEmpty() ? List.of(call) : List.of(block, call);
  }

  @Override
  public Call head(Scan scan, Functions functions) {
    if (!block.isEmpty() && scan.literal(block)) {
      scan.space();
    }
    return call(scan, functions);
  }

  @Override
  public Call next(Scan scan, Functions functions, boolean marked) {
    scan.space();
    return block.isEmpty() ? scan.fail() : call(scan, functions);
  }

  private Call call(Scan scan, Functions functions) {
    String name = scan.literal(call) ? scan.word() : null;
    if (!functions.takes(name, true) || !scan.literal(afterName)) {
      return scan.fail();
    }
    scan.space();
    int arguments = scan.at();
    boolean begins = scan.literal(parameter.open()) || scan.any(ends());
    if (scan.starved() || !begins && afterName.isEmpty() && !functions.isKnown(name)) {
      return scan.fail();
    }
    scan.back(arguments);
    return new Call(name, new TagArguments(this, functions.get(name)), false, true, this);
  }

  /** Reads the end of a call whose arguments were not in the form. */
  @Override
  public boolean end(Scan scan, Call call) {
    scan.literal(parameter.callEnd());
    return !scan.starved();
  }

  @Override
  public List<String> closers() {
    return block.isEmpty() ? List.of() : List.of(blockEnd);
  }

  @Override
  public List<String> ends() {
    return block.isEmpty() ? List.of(parameter.callEnd()) : List.of(parameter.callEnd(), blockEnd);
  }

  @Override
  public boolean close(Scan scan) {
    return !block.isEmpty() && scan.space() && scan.literal(blockEnd);
  }
}
