package io.radixflow.kernels.text.message;

import io.radixflow.kernels.text.message.json.LiteralArguments;
import io.radixflow.kernels.text.message.json.LiteralArguments.Dialect;
import io.radixflow.kernels.text.message.json.Scan;
import java.util.List;
import java.util.Map;

/**
 * Calls that look like calls of a programming language: {@code [f(a=1), g()]}, {@code call:f{a:1}}.
 *
 * @param markers any of them begins a block
 * @param leading what may begin a block at the reply's start without a marker
 * @param before stands before each name
 * @param suffix ends the word of the name and is not part of it
 * @param dialect the form of the arguments
 * @param closers any of them ends a block; it may be missing
 */
record LiteralCalls(
    List<String> markers,
    List<String> leading,
    String before,
    String suffix,
    Dialect dialect,
    List<String> closers)
    implements CallFormat {

  @Override
  public Call head(Scan scan, Map<String, Tool> tools) {
    scan.any(markers);
    scan.space();
    scan.literal("[");
    scan.space();
    return call(scan, tools);
  }

  @Override
  public Call next(Scan scan, Map<String, Tool> tools) {
    scan.space();
    scan.literal(",");
    scan.space();
    return call(scan, tools);
  }

  private Call call(Scan scan, Map<String, Tool> tools) {
    String word = scan.literal(before) ? scan.word() : null;
    if (word == null || !word.endsWith(suffix) || !scan.literal(dialect.open())) {
      return scan.fail();
    }
    String name = word.substring(0, word.length() - suffix.length());
    return tools.containsKey(name)
        ? new Call(name, new LiteralArguments(dialect), false, this)
        : scan.fail();
  }

  @Override
  public boolean close(Scan scan) {
    return scan.closeList(closers);
  }
}
