package io.radixflow.text.reply;

import io.radixflow.text.reply.json.LiteralArguments;
import io.radixflow.text.reply.json.LiteralArguments.Dialect;
import io.radixflow.text.reply.json.Scan;
import java.util.List;
import java.util.stream.Stream;

/**
 * Calls that look like calls of a programming language: {@code [f(a=1), g()]}, {@code call:f{a:1}}.
 *
 * @param markers texts that begin a block
 * @param leading texts that may begin a block at the start of the reply without a marker
 * @param before text before each name
 * @param suffix text after the name in the same word
 * @param dialect the form of the arguments
 * @param closers texts that end a block; the end may be missing
 * @param lines whether a line break ends a call
 */
record LiteralCalls(
    List<String> markers,
    List<String> leading,
    String before,
    String suffix,
    Dialect dialect,
    List<String> closers,
    boolean lines)
    implements CallFormat {

  @Override
  public List<String> beginnings(String name) {
    return leading.stream().map(start -> start + before + name + dialect.open()).toList();
  }

  @Override
  public Call head(Scan scan, Functions functions) {
    boolean marked = scan.any(markers);
    scan.space();
    scan.literal("[");
    scan.space();
    return call(scan, functions, marked);
  }

  @Override
  public Call next(Scan scan, Functions functions, boolean marked) {
    scan.space();
    scan.literal(",");
    scan.space();
    return call(scan, functions, marked);
  }

  private Call call(Scan scan, Functions functions, boolean marked) {
    String word = scan.literal(before) ? scan.word() : null;
    if (word == null || !word.endsWith(suffix) || !scan.literal(dialect.open())) {
      return scan.fail();
    }
    String name = word.substring(0, word.length() - suffix.length());
    boolean call =
        functions.isKnown(name)
            || functions.takes(name, marked) && (marked || namesArgument(scan) && scan.going());
    return call ? new Call(name, new LiteralArguments(dialect), false, marked, this) : scan.fail();
  }

  /** Returns whether a named argument follows, or the end of a call in a list. */
  private boolean namesArgument(Scan scan) {
    int from = scan.at();
    scan.space();
    boolean call;
    if (scan.literal(String.valueOf(dialect.close()))) {
      scan.space();
      call = scan.literal("]") || scan.literal(",");
    } else {
      scan.word();
      scan.space();
      call = scan.literal(String.valueOf(dialect.assign()));
    }
    scan.back(from);
    return call;
  }

  @Override
  public List<String> ends() {
    return lines ? Stream.concat(closers.stream(), Stream.of("\n")).toList() : closers;
  }

  @Override
  public String brackets() {
    return dialect.close() + "]";
  }

  @Override
  public String closed(String tail) {
    String rest = tail.stripTrailing();
    boolean list = rest.endsWith("]") && rest.indexOf(dialect.close()) >= 0;
    rest = list ? rest.substring(0, rest.length() - 1).stripTrailing() : rest;
    boolean closes = rest.endsWith(String.valueOf(dialect.close()));
    return closes ? rest.substring(0, rest.length() - 1) + "}" : rest;
  }

  @Override
  public boolean close(Scan scan) {
    return scan.closeList(closers);
  }
}
