package io.radixflow.text.reply;

import io.radixflow.text.reply.json.Markers;
import io.radixflow.text.reply.json.Scan;
import java.util.List;
import java.util.function.Consumer;

/**
 * Separates the reasoning at the start of a reply and passes the rest to the next parser.
 *
 * <p>Line breaks next to the marks belong to the marks. Text is held back while it may be a mark,
 * or up to {@link CallParser#GAP} line breaks before a mark. Later marks are content.
 */
final class ReasoningParser extends StreamParser {

  private enum State {
    START,
    OPENED,
    REASONING,
    CLOSED,
    RESPONSE,
    REST
  }

  private final ReasoningFormat format;
  private final ReplyParser rest;
  private final Markers responseEnd;
  private State state;
  private boolean response;

  /**
   * @param inside whether the reply begins inside the reasoning
   * @param rest parses the text after the reasoning
   */
  ReasoningParser(ReasoningFormat format, boolean inside, ReplyParser rest) {
    this.format = format;
    this.rest = rest;
    responseEnd = format.response().isEmpty() ? null : new Markers(List.of(format.responseEnd()));
    state = inside ? State.OPENED : State.START;
  }

  @Override
  public void finish(boolean cut, Consumer<ReplyPart> out) {
    super.finish(cut, out);
    rest.finish(cut, out);
  }

  @Override
  boolean step(boolean last) {
    return switch (state) {
      case START -> start(last);
      case OPENED -> skipBreaks(State.REASONING);
      case REASONING -> reasoning(last);
      case CLOSED -> closed(last);
      case RESPONSE -> skipBreaks(State.REST);
      case REST -> rest(last);
    };
  }

  private boolean start(boolean last) {
    int at = from;
    while (at < held.length() && at - from < CallParser.GAP && Scan.isSpace(held.charAt(at))) {
      at++;
    }
    int match = Markers.match(format.open(), held, at);
    if (match == Markers.WHOLE) {
      from = at + format.open().length();
      state = State.OPENED;
      return true;
    }
    if (match == Markers.PART && !last) {
      return false;
    }
    if (match == Markers.PART && cut(at, true)) {
      from = held.length();
      return false;
    }
    state = State.REST;
    return true;
  }

  private boolean skipBreaks(State next) {
    while (from < held.length() && held.charAt(from) == '\n') {
      from++;
    }
    if (from == held.length()) {
      return false;
    }
    state = next;
    return true;
  }

  private boolean reasoning(boolean last) {
    int at = from;
    int match = Markers.NONE;
    while (at < held.length() && (match = closeAt(at)) == Markers.NONE) {
      at++;
    }
    if (match == Markers.PART && last) {
      at = held.length();
    }
    giveReasoning(held, from, at);
    from = at;
    if (match != Markers.WHOLE) {
      return false;
    }
    while (held.charAt(from) == '\n') {
      from++;
    }
    from += format.close().length();
    state = State.CLOSED;
    return true;
  }

  /** Returns whether the closing mark, possibly after line breaks, is at a position. */
  private int closeAt(int at) {
    int mark = at;
    while (mark < held.length() && mark - at < CallParser.GAP && held.charAt(mark) == '\n') {
      mark++;
    }
    return Markers.match(format.close(), held, mark);
  }

  private boolean closed(boolean last) {
    int at = from;
    while (at < held.length() && held.charAt(at) == '\n') {
      at++;
    }
    from = at;
    int match = format.response().isEmpty() ? 0 : Markers.match(format.response(), held, at);
    if (match == Markers.PART && !last || at == held.length()) {
      return false;
    }
    response = match == Markers.WHOLE;
    if (response) {
      from += format.response().length();
    }
    state = response ? State.RESPONSE : State.REST;
    return true;
  }

  private boolean rest(boolean last) {
    Consumer<ReplyPart> out = flush();
    int end = response ? responseEnd.seek(held, from) : held.length();
    boolean whole = end < held.length() && responseEnd.at(held, end) == Markers.WHOLE;
    int given = last && !whole ? held.length() : end;
    if (given > from) {
      rest.accept(held.substring(from, given), out);
    }
    from = given;
    if (whole) {
      from += format.responseEnd().length();
      response = false;
    }
    return whole;
  }
}
