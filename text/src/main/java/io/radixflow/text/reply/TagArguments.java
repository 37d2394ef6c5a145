package io.radixflow.text.reply;

import io.radixflow.text.reply.TagCalls.Parameter;
import io.radixflow.text.reply.json.CallArguments;
import io.radixflow.text.reply.json.JsonStrings;
import io.radixflow.text.reply.json.Markers;
import io.radixflow.text.reply.json.Scan;
import io.radixflow.text.reply.json.TypedValues;
import java.util.Set;

/**
 * Arguments in one tag each, converted to JSON with the types of the function's schema.
 *
 * <p>Strings are passed on as they arrive; only a possible beginning of the closing tag is held
 * back. Other values are held back until they are complete. A value of more than {@link #VALUE}
 * characters becomes a string. A closing tag of a parameter counts only if another parameter or the
 * end of the call follows, so a value may contain such tags.
 */
final class TagArguments implements CallArguments {

  /** The largest number of characters of a value that is not a string. */
  static final int VALUE = 65_536;

  private enum Step {
    HEADER,
    STRING_START,
    STRING,
    VALUE,
    END
  }

  private final TagCalls call;
  private final Parameter form;
  private final Tool tool;
  private Step step = Step.HEADER;
  private boolean opened;
  private boolean broken;
  private Set<String> types;

  /** Number of characters of a held value that were searched without finding its end. */
  private int searched;

  TagArguments(TagCalls call, Tool tool) {
    this.call = call;
    this.form = call.parameter();
    this.tool = tool;
  }

  @Override
  public State state() {
    return broken ? State.BROKEN : step == Step.END ? State.DONE : State.OPEN;
  }

  @Override
  public int read(CharSequence text, int from, StringBuilder out) {
    int at = from;
    int before;
    Step was;
    do {
      before = at;
      was = step;
      at =
          switch (step) {
            case HEADER -> header(text, at, out);
            case STRING_START -> start(text, at, out);
            case STRING -> string(text, at, out);
            case VALUE -> value(text, at, out);
            case END -> at;
          };
    } while (at > before || step != was);
    return at;
  }

  /** Reads the head of a parameter, or the end of the call. */
  private int header(CharSequence text, int from, StringBuilder out) {
    if (broken) {
      return from;
    }
    Scan scan = new Scan(text, from, CallParser.HEAD);
    scan.space();
    int end = scan.at();
    if (scan.any(call.ends())) {
      out.append(opened ? "}" : "{}");
      step = Step.END;
      return end;
    }
    String name = scan.literal(form.open()) ? scan.until(form.afterName()) : null;
    if (!form.value().isEmpty()) {
      scan.space();
    }
    boolean string = !form.string().isEmpty() && scan.literal(form.string());
    if (name == null || !(string || scan.literal(form.value()))) {
      broken = !scan.starved();
      return from;
    }
    out.append(opened ? ", " : "{").append(JsonStrings.quote(name.strip())).append(": ");
    opened = true;
    types = string ? Set.of("string") : tool.types(name.strip());
    boolean known = types.equals(Set.of("string"));
    step = known ? Step.STRING_START : Step.VALUE;
    if (known) {
      out.append('"');
    }
    searched = 0;
    return scan.at();
  }

  /** Skips the line break before a value that is on its own lines. */
  private int start(CharSequence text, int from, StringBuilder out) {
    if (from == text.length()) {
      return from;
    }
    step = Step.STRING;
    return form.lines() && text.charAt(from) == '\n' ? from + 1 : from;
  }

  private int string(CharSequence text, int from, StringBuilder out) {
    int end = seekEnd(text, from);
    JsonStrings.append(out, text, from, end);
    if (endsAt(text, end) != Markers.WHOLE) {
      return end;
    }
    out.append('"');
    step = Step.HEADER;
    return afterEnd(text, end);
  }

  private int value(CharSequence text, int from, StringBuilder out) {
    int end = seekEnd(text, from + searched);
    searched = end - from;
    if (searched > VALUE || onlyString(text, from, end)) {
      out.append('"');
      step = Step.STRING_START;
      return from;
    }
    if (endsAt(text, end) != Markers.WHOLE) {
      return from;
    }
    boolean line = form.lines() && end > from && text.charAt(from) == '\n';
    TypedValues.append(out, text.subSequence(line ? from + 1 : from, end).toString(), types);
    step = Step.HEADER;
    return afterEnd(text, end);
  }

  /** Returns whether a value that may be a string or null can no longer be null. */
  private boolean onlyString(CharSequence text, int from, int end) {
    if (types.size() != 2 || !types.contains("string") || !types.contains("null")) {
      return false;
    }
    String start = text.subSequence(from, Math.min(end, from + 8)).toString().strip();
    return !"null".startsWith(start) || end - from > 8;
  }

  /**
   * Returns the first position where the value ends or may end; the length of the text if there is
   * none.
   */
  private int seekEnd(CharSequence text, int from) {
    int at = from;
    while (at < text.length() && endsAt(text, at) == Markers.NONE) {
      at++;
    }
    return at;
  }

  /**
   * Returns whether the value ends at a position. This checks its line break, its tag, and the text
   * that must follow.
   */
  private int endsAt(CharSequence text, int at) {
    if (at >= text.length()) {
      return Markers.NONE;
    }
    int tag = closeAt(text, at);
    int match = Markers.match(form.close(), text, tag);
    if (match != Markers.WHOLE) {
      return match;
    }
    Scan scan = new Scan(text, tag + form.close().length(), CallParser.GAP);
    scan.space();
    boolean follows = scan.literal(form.open()) || scan.any(call.ends());
    return follows ? Markers.WHOLE : scan.starved() ? Markers.PART : Markers.NONE;
  }

  private int closeAt(CharSequence text, int at) {
    return form.lines() && text.charAt(at) == '\n' ? at + 1 : at;
  }

  private int afterEnd(CharSequence text, int end) {
    return closeAt(text, end) + form.close().length();
  }
}
