package io.radixflow.text.reply;

import io.radixflow.text.reply.json.Scan;
import java.util.List;

/**
 * Calls that are tags with one tag per parameter: {@code <tool_call><function=f><parameter=a>1
 * </parameter></function></tool_call>}.
 *
 * @param block text that begins a block of calls, which may be missing; empty if the format has no
 *     blocks
 * @param blockEnd text that ends a block
 * @param call text before the name
 * @param afterName text after the name; empty if the name ends at a line break or tag
 * @param parameter format of a parameter
 */
record TagCalls(String block, String blockEnd, String call, String afterName, Parameter parameter)
    implements CallFormat {

  /**
   * The format of a parameter.
   *
   * @param open text before its name
   * @param afterName text after its name
   * @param value text before its value
   * @param string text that replaces {@code value} if the value is a string, whatever the schema
   *     says; empty if the format has no such mark
   * @param close text after its value
   * @param callEnd text that ends the call after the last parameter
   * @param lines whether the value is on its own lines
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

  /** Reads the end of a call with broken arguments. */
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
