package io.radixflow.text.reply;

import io.radixflow.text.reply.json.CallArguments;
import io.radixflow.text.reply.json.JsonArguments;
import io.radixflow.text.reply.json.Markers;
import io.radixflow.text.reply.json.Scan;
import io.radixflow.text.reply.json.WholeArguments;
import java.util.List;

/**
 * Reads harmony, the format of gpt-oss. Messages have a channel and optionally a recipient: {@code
 * <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>...}.
 *
 * <p>The analysis channel is reasoning. Other channels are content, except messages with a
 * recipient, which are calls if the reply may call functions. If it may not, such a message is
 * content, with its header and end. A header is held back until it is complete, at most {@link
 * CallParser#HEAD} characters. Consecutive messages of the same kind are joined with a line break.
 */
final class HarmonyParser extends StreamParser {

  private static final String MESSAGE = "<|message|>";
  private static final List<String> ENDS = List.of("<|end|>", "<|return|>", "<|call|>");
  private static final Markers HEADERS = new Markers(List.of("<|start|>", "<|channel|>", "to="));

  /** The marks that end a message's text. */
  static final List<String> BOUND_MARKS =
      List.of("<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>");

  private static final Markers BOUNDS = new Markers(BOUND_MARKS);

  private enum State {
    HEADER,
    BODY,
    ARGUMENTS,
    END
  }

  private final Functions functions;
  private State state = State.HEADER;
  private PartKind kind = PartKind.CONTENT;

  /** Whether the message is content exactly as it is written, including its end. */
  private boolean raw = true;

  /**
   * The kind of the last message that had text. A line break joins the next message of this kind to
   * it.
   */
  private PartKind last;

  private boolean joined;
  private CallArguments arguments;
  private int calls;

  HarmonyParser(Functions functions) {
    this.functions = functions;
  }

  @Override
  boolean step(boolean ended) {
    return from < held.length()
        && switch (state) {
          case HEADER -> header(ended);
          case BODY -> body(ended);
          case ARGUMENTS -> arguments(ended);
          case END -> end(ended);
        };
  }

  /** Reads a header, or continues with plain text if there is no header. */
  private boolean header(boolean ended) {
    Scan scan = new Scan(held, from, CallParser.HEAD);
    scan.space();
    int match = scan.going() ? HEADERS.at(held, scan.at()) : Markers.NONE;
    boolean wait = match == Markers.PART || scan.starved();
    if (match == Markers.WHOLE) {
      Header header = Header.read(scan);
      if (header != null && header.recipient != null) {
        return recipient(header, scan, ended);
      }
      if (header != null) {
        return open(header.channel.equals("analysis"), scan.at());
      }
      wait = scan.starved();
    }
    if (wait && !ended) {
      return false;
    }
    if (wait && isCut() && (match == Markers.WHOLE || cut(scan.at(), true))) {
      return drop();
    }
    return plain(ended ? held.length() : from + 1);
  }

  /** Drops a header that a limit cut off. */
  private boolean drop() {
    from = held.length();
    return false;
  }

  private boolean open(boolean reasoning, int at) {
    kind = reasoning ? PartKind.REASONING : PartKind.CONTENT;
    raw = false;
    joined = kind != last;
    from = at;
    state = State.BODY;
    return true;
  }

  /** Passes on text as it is written, up to the next message. */
  private boolean plain(int end) {
    kind = PartKind.CONTENT;
    last = PartKind.CONTENT;
    raw = true;
    joined = true;
    giveContent(held, from, end);
    from = end;
    state = State.BODY;
    return true;
  }

  private boolean recipient(Header header, Scan scan, boolean ended) {
    String name = header.recipient;
    name = name.startsWith("functions.") ? name.substring("functions.".length()) : name;
    int body = scan.at();
    scan.space();
    boolean object = scan.peek() == '{';
    int begin = scan.at();
    boolean none = !object && ENDS.stream().anyMatch(scan::literal);
    if (scan.starved() && !ended) {
      return false;
    }
    if (functions.known().isEmpty() || !functions.takes(name, true)) {
      return plain(body);
    }
    if (scan.starved()) {
      return isCut() ? drop() : plain(body);
    }
    arguments = none ? WholeArguments.NONE : new JsonArguments();
    giveCall(calls, name);
    from = begin;
    state = State.ARGUMENTS;
    return true;
  }

  private boolean body(boolean ended) {
    int end = BOUNDS.seek(held, from);
    int match = BOUNDS.at(held, end);
    boolean cut = match == Markers.PART && cut(end, false);
    if (match == Markers.PART && ended && !cut) {
      end = held.length();
    }
    text(end);
    if (cut) {
      return drop();
    }
    if (match != Markers.WHOLE || from == held.length()) {
      return false;
    }
    for (String mark : ENDS) {
      if (Markers.match(mark, held, from) == Markers.WHOLE) {
        if (raw) {
          text(from + mark.length());
        } else {
          from += mark.length();
        }
        break;
      }
    }
    state = State.HEADER;
    return true;
  }

  private void text(int end) {
    if (end == from) {
      return;
    }
    if (!joined) {
      joined = true;
      give("\n", 0, 1);
    }
    give(held, from, end);
    last = kind;
    from = end;
  }

  private void give(CharSequence text, int start, int end) {
    if (kind == PartKind.REASONING) {
      giveReasoning(text, start, end);
    } else {
      giveContent(text, start, end);
    }
  }

  private boolean arguments(boolean ended) {
    if (arguments.state() != CallArguments.State.BROKEN) {
      from = arguments.read(held, from, giveArguments(calls));
    }
    switch (arguments.state()) {
      case OPEN -> {
        return false;
      }
      case BROKEN -> {
        return raw(ended);
      }
      default -> {
        calls++;
        state = State.END;
        return true;
      }
    }
  }

  /** Passes on broken arguments as they are written, up to the end of the message. */
  private boolean raw(boolean ended) {
    int end = BOUNDS.seek(held, from);
    boolean whole = BOUNDS.at(held, end) == Markers.WHOLE;
    if (!whole && ended && !cut(end, false)) {
      end = held.length();
    }
    giveArguments(calls).append(held, from, end);
    from = !whole && ended ? held.length() : end;
    if (!whole) {
      return false;
    }
    calls++;
    state = State.END;
    return true;
  }

  private boolean end(boolean ended) {
    Scan scan = new Scan(held, from, CallParser.HEAD);
    scan.space();
    for (String mark : ENDS) {
      if (scan.literal(mark)) {
        from = scan.at();
        state = State.HEADER;
        return true;
      }
    }
    if (scan.starved()) {
      if (ended) {
        from = held.length();
      }
      return false;
    }
    state = State.HEADER;
    return true;
  }

  /** The header of a message. Only its channel and recipient matter. */
  private record Header(String channel, String recipient) {

    static Header read(Scan scan) {
      String channel = "";
      String recipient = null;
      while (!scan.literal(MESSAGE)) {
        int before = scan.at();
        if (scan.literal("<|channel|>")) {
          channel = scan.word();
        } else if (scan.literal("to=")) {
          recipient = scan.word();
        } else if (!scan.literal("<|start|>") && !scan.literal("<|constrain|>")) {
          scan.word();
        }
        scan.space();
        if (!scan.going() || channel == null || scan.at() == before) {
          return null;
        }
      }
      return new Header(channel, recipient);
    }
  }
}
