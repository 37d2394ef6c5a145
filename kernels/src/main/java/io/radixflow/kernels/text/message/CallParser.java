package io.radixflow.kernels.text.message;

import io.radixflow.kernels.text.message.CallFormat.Call;
import io.radixflow.kernels.text.message.json.Arguments;
import io.radixflow.kernels.text.message.json.Markers;
import io.radixflow.kernels.text.message.json.Scan;
import java.util.List;
import java.util.Map;

/**
 * Finds calls of functions in a reply.
 *
 * <p>Text is held back only where it may be the beginning of a call: from a marker on until the
 * name of a known function is whole and its arguments begin, at most {@link #HEAD} characters; what
 * is longer is content. From there on it is a call for good. Arguments that stop being in the
 * format's form stay unfinished and the text goes on as content; those that the reply's end cuts
 * stay unfinished, too. White space before the first call, between calls and after the last one is
 * not content, if nothing else is.
 */
final class CallParser extends StreamParser {

  /** The most characters from the beginning of a call to its arguments, and after them. */
  static final int HEAD = 1024;

  /** The most white space that is held back before a call. */
  static final int GAP = 64;

  private enum State {
    TEXT,
    ARGUMENTS,
    END,
    NEXT
  }

  private final List<CallFormat> formats;
  private final Map<String, Tool> tools;
  private final Markers markers;
  private final Markers leading;
  private State state = State.TEXT;

  /** Whether white space that comes next may be dropped, since only calls are around it. */
  private boolean edge = true;

  private Call call;
  private int calls;

  CallParser(List<CallFormat> formats, Map<String, Tool> tools) {
    this.formats = formats;
    this.tools = tools;
    markers = new Markers(formats.stream().flatMap(f -> f.markers().stream()).toList());
    leading = new Markers(formats.stream().flatMap(f -> f.leading().stream()).toList());
  }

  @Override
  boolean step(boolean last) {
    return switch (state) {
      case TEXT -> text(last);
      case ARGUMENTS -> arguments(last);
      case END -> end(last);
      case NEXT -> next(last);
    };
  }

  private boolean text(boolean last) {
    int length = held.length();
    int start = edge ? skipSpace() : from;
    if (edge && start - from == GAP) {
      return content(start);
    }
    if (start == length) {
      if (last && calls == 0 && start > from) {
        content(length);
      }
      return false;
    }
    boolean mayLead = edge && calls == 0;
    int found =
        mayLead && leading.at(held, start) != Markers.NONE ? start : markers.seek(held, start);
    if (found > start) {
      return content(found) && found < length;
    }
    int match = Math.max(markers.at(held, found), mayLead ? leading.at(held, found) : 0);
    boolean decided = last || match == Markers.WHOLE;
    return decided && (match == Markers.WHOLE ? head(found, last) : content(found + 1));
  }

  private int skipSpace() {
    int end = Math.min(held.length(), from + GAP);
    int at = from;
    while (at < end && Scan.isSpace(held.charAt(at))) {
      at++;
    }
    return at;
  }

  private boolean content(int end) {
    giveContent(held, from, end);
    from = end;
    edge = false;
    return true;
  }

  private boolean head(int start, boolean last) {
    for (CallFormat format : formats) {
      Scan scan = new Scan(held, start, HEAD);
      Call found = format.head(scan, tools);
      if (found != null) {
        return open(found, scan.at());
      }
      if (scan.starved() && !last) {
        return false;
      }
    }
    return content(start + 1);
  }

  private boolean open(Call found, int at) {
    call = found;
    from = at;
    state = State.ARGUMENTS;
    giveCall(calls, found.name());
    return true;
  }

  private boolean arguments(boolean last) {
    Arguments arguments = call.arguments();
    from = arguments.read(held, from, giveArguments(calls));
    switch (arguments.state()) {
      case DONE -> {
        calls++;
        state = State.END;
        return true;
      }
      case BROKEN -> {
        calls++;
        state = State.TEXT;
        edge = false;
        return true;
      }
      default -> {
        if (last) {
          from = held.length();
        }
        return false;
      }
    }
  }

  private boolean end(boolean last) {
    Scan scan = new Scan(held, from, HEAD);
    if (call.format().end(scan, call)) {
      from = scan.at();
      state = State.NEXT;
      return true;
    }
    return endBlock(scan, last);
  }

  private boolean next(boolean last) {
    Scan scan = new Scan(held, from, HEAD);
    Call found = call.format().next(scan, tools);
    if (found != null) {
      return open(found, scan.at());
    }
    if (scan.starved() && !last) {
      return false;
    }
    Scan closing = new Scan(held, from, HEAD);
    if (call.format().close(closing)) {
      from = closing.at();
    }
    return endBlock(closing, last);
  }

  /** Goes on with text after a block of calls, unless its end may still come. */
  private boolean endBlock(Scan scan, boolean last) {
    if (scan.starved()) {
      if (last) {
        from = held.length();
      }
      return false;
    }
    state = State.TEXT;
    edge = true;
    return true;
  }
}
