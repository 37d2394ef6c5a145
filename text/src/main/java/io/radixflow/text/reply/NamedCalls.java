package io.radixflow.text.reply;

import io.radixflow.text.reply.json.JsonArguments;
import io.radixflow.text.reply.json.Scan;
import io.radixflow.text.reply.json.WholeArguments;
import java.util.ArrayList;
import java.util.List;

/**
 * Calls that are a name and a JSON object, with marks around them: {@code
 * [TOOL_CALLS]f[ARGS]{...}}.
 *
 * @param section text that begins a block of calls, which may be missing; empty if the format has
 *     no blocks
 * @param call text that begins a call
 * @param before text before the name
 * @param after texts between name and arguments, in this order; each may be missing
 * @param ends texts that end a call, in this order; each may be missing
 * @param sectionEnd text that ends a block of calls; empty if the format has no blocks
 */
record NamedCalls(
    String section,
    String call,
    String before,
    List<String> after,
    List<String> ends,
    String sectionEnd)
    implements CallFormat {

  /** A mark that is followed by a word which is not the function's name. */
  static final String CALL_ID = "[CALL_ID]";

  @Override
  public List<String> markers() {
    return section.isEmpty() ? List.of(call) : List.of(section, call);
  }

  @Override
  public Call head(Scan scan, Functions functions) {
    if (!section.isEmpty() && scan.literal(section)) {
      scan.space();
    }
    if (!scan.literal(call) || !scan.space() || !scan.literal(before)) {
      return scan.fail();
    }
    String name = name(scan.word(), functions);
    if (name == null) {
      return scan.fail();
    }
    scan.space();
    boolean marked = false;
    for (String mark : after) {
      boolean here = scan.literal(mark);
      if (here && mark.equals(CALL_ID)) {
        scan.word();
      }
      marked |= here;
      scan.space();
    }
    if (scan.peek() == '{') {
      return new Call(name, new JsonArguments(), false, true, this);
    }
    int at = scan.at();
    boolean none = !ends.isEmpty() && scan.literal(ends.get(ends.size() - 1));
    scan.back(at);
    if (scan.starved() || !none && !marked) {
      return scan.fail();
    }
    return new Call(name, none ? WholeArguments.NONE : new JsonArguments(), false, true, this);
  }

  /** Returns the function that a word names. Also accepts Kimi's form {@code functions.f:0}. */
  private static String name(String word, Functions functions) {
    if (word == null || functions.isKnown(word)) {
      return word;
    }
    String name = word.startsWith("functions.") ? word.substring("functions.".length()) : word;
    int colon = name.lastIndexOf(':');
    name = colon > 0 ? name.substring(0, colon) : name;
    return functions.takes(name, true) ? name : null;
  }

  @Override
  public boolean end(Scan scan, Call call) {
    int end = scan.at();
    for (String mark : ends) {
      scan.space();
      if (scan.literal(mark)) {
        end = scan.at();
      }
    }
    scan.back(end);
    return scan.going();
  }

  @Override
  public List<String> closers() {
    return sectionEnd.isEmpty() ? List.of() : List.of(sectionEnd);
  }

  @Override
  public List<String> ends() {
    List<String> all = new ArrayList<>(ends);
    all.addAll(closers());
    return all;
  }

  @Override
  public boolean close(Scan scan) {
    return !sectionEnd.isEmpty() && scan.space() && scan.literal(sectionEnd);
  }
}
