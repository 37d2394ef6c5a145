package io.radixflow.text.reply;

import io.radixflow.text.reply.CallFormat.Call;
import io.radixflow.text.reply.json.CallArguments;
import io.radixflow.text.reply.json.Markers;
import io.radixflow.text.reply.json.Scan;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds function calls in a reply.
 *
 * <p>Text is held back only while it may be the beginning of a call: from a marker until the name
 * of a function is complete and its arguments begin. At most {@link #HEAD} characters are held
 * back; longer text is content. Once the arguments have begun, the text stays a call. Arguments
 * that stop following the format are passed on as written, up to the call's end or the next call.
 * If a limit ends the reply before a call's arguments, the call is dropped. White space before,
 * between and after calls is not content if there is no other text.
 */
final class CallParser extends StreamParser {

  /**
   * The largest number of characters from the beginning of a call to its arguments, and the same
   * after the arguments.
   */
  static final int HEAD = 1024;

  /** The largest number of white space characters that are held back before a call. */
  static final int GAP = 64;

  /** Characters that models write by mistake between a call and the end of its block. */
  private static final String STRAY = "}])>,;";

  private enum State {
    TEXT,
    ARGUMENTS,
    RAW,
    END,
    NEXT
  }

  private final List<CallFormat> formats;
  private final Functions functions;
  private final Markers markers;
  private final Markers leading;
  private State state = State.TEXT;

  /** Whether the next white space may be dropped, because only calls are around it. */
  private boolean edge = true;

  private Call call;
  private int calls;

  /** Finds the end of a call whose arguments are broken. */
  private Markers ends;

  /** Finds the end of the block of the last call; null after that end. */
  private Markers closers;

  CallParser(List<CallFormat> formats, Functions functions) {
    this.formats = formats;
    this.functions = functions;
    markers = new Markers(formats.stream().flatMap(f -> f.markers().stream()).toList());
    leading = new Markers(formats.stream().flatMap(f -> f.leading().stream()).toList());
  }

  @Override
  boolean step(boolean last) {
    return switch (state) {
      case TEXT -> text(last);
      case ARGUMENTS -> arguments(last);
      case RAW -> raw(last);
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
    int found = mayLead && leading.at(held, start) != Markers.NONE ? start : seek(start);
    if (found > start) {
      return content(found) && found < length;
    }
    int match = Math.max(markers.at(held, found), mayLead ? leading.at(held, found) : 0);
    int closer = closers == null ? Markers.NONE : closers.at(held, found);
    if (closer == Markers.WHOLE && match != Markers.WHOLE) {
      return stray(found);
    }
    if (match == Markers.WHOLE) {
      return head(found, last);
    }
    return last && (cut(found, edge) ? drop() : content(found + 1));
  }

  private int seek(int start) {
    int found = markers.seek(held, start);
    return closers == null ? found : Math.min(found, closers.seek(held, start));
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

  /** Drops the end of a block that contained text. */
  private boolean stray(int at) {
    Scan scan = new Scan(held, at, HEAD);
    scan.any(call.format().closers());
    from = scan.at();
    closers = null;
    edge = true;
    return true;
  }

  /** Drops the beginning of a call that a limit cut off. */
  private boolean drop() {
    from = held.length();
    return false;
  }

  private boolean head(int start, boolean last) {
    boolean starved = false;
    for (CallFormat format : formats) {
      Scan scan = new Scan(held, start, HEAD);
      Call found = format.head(scan, functions);
      if (found != null) {
        return open(found, scan.at());
      }
      starved |= scan.starved();
      if (starved && !last) {
        return false;
      }
    }
    boolean begun = markers.at(held, start) == Markers.WHOLE ? starved : begins(start);
    return begun && isCut() ? drop() : content(start + 1);
  }

  /** Returns whether the rest of the reply may be the beginning of a call without a mark. */
  private boolean begins(int start) {
    String rest =
        held.substring(start, Math.min(held.length(), start + HEAD)).replaceAll("\\s", "");
    return functions.known().keySet().stream()
        .flatMap(name -> formats.stream().flatMap(f -> f.beginnings(name).stream()))
        .anyMatch(beginning -> beginning.startsWith(rest));
  }

  private boolean open(Call found, int at) {
    call = found;
    from = at;
    state = State.ARGUMENTS;
    closers = null;
    giveCall(calls, found.name());
    return true;
  }

  private boolean arguments(boolean last) {
    CallArguments arguments = call.arguments();
    from = arguments.read(held, from, giveArguments(calls));
    switch (arguments.state()) {
      case DONE -> {
        calls++;
        state = State.END;
        return true;
      }
      case BROKEN -> {
        List<String> all = new ArrayList<>(call.format().ends());
        formats.forEach(f -> all.addAll(f.markers()));
        ends = new Markers(all);
        state = State.RAW;
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

  /** Passes on broken arguments as they are written. */
  private boolean raw(boolean last) {
    int end = ends.seek(held, from);
    boolean whole = ends.at(held, end) == Markers.WHOLE;
    if (!whole && last && !cut(end, false)) {
      end = held.length();
    }
    int tail = tail(end);
    giveArguments(calls).append(held, from, tail);
    from = tail;
    if (!whole && !last) {
      return false;
    }
    giveArguments(calls).append(call.format().closed(held.substring(tail, end)));
    from = whole ? end : held.length();
    calls++;
    call = new Call(call.name(), call.arguments(), false, call.marked(), call.format());
    state = State.END;
    return whole;
  }

  /** Returns the start of the white space and brackets that end at a position. */
  private int tail(int end) {
    String brackets = call.format().brackets();
    int at = end;
    while (at > from && end - at < GAP) {
      char c = held.charAt(at - 1);
      if (!Scan.isSpace(c) && brackets.indexOf(c) < 0) {
        break;
      }
      at--;
    }
    return at;
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
    Call found = call.format().next(scan, functions, call.marked());
    if (found != null) {
      return open(found, scan.at());
    }
    if (scan.starved() && !last) {
      return false;
    }
    if (scan.starved() && isCut()) {
      return drop();
    }
    Scan closing = new Scan(held, from, HEAD);
    if (call.format().close(closing)) {
      from = closing.at();
      return endText();
    }
    return endBlock(closing, last);
  }

  /** Continues with text after a block of calls, unless the end of the block may still follow. */
  private boolean endBlock(Scan scan, boolean last) {
    if (scan.starved() && !last) {
      return false;
    }
    List<String> texts = call.marked() ? call.format().closers() : List.of();
    if (!scan.starved() && !texts.isEmpty()) {
      Scan closing = new Scan(held, from, GAP);
      closing.skip(STRAY);
      if (closing.any(texts)) {
        from = closing.at();
        return endText();
      }
      if (closing.starved()) {
        return last && drop();
      }
      closers = new Markers(texts);
    }
    return scan.starved() ? drop() : endText();
  }

  private boolean endText() {
    state = State.TEXT;
    edge = true;
    return true;
  }
}
