package io.radixflow.client;

import io.radixflow.protocol.record.ReplyDelta.Kind;

/**
 * The part of a reply that a piece of text belongs to.
 *
 * @param kind null for the content
 * @param index for a call its number in the reply, from 0; else -1
 * @param id for a call its id; else null
 */
public record TurnPart(Kind kind, int index, String id) {

  public static final TurnPart CONTENT = new TurnPart(null, -1, null);
  public static final TurnPart REASONING = new TurnPart(Kind.REASONING_CONTENT, -1, null);

  /** Returns the part with the name of a call's function; it opens the call. */
  public static TurnPart call(int index, String id) {
    return new TurnPart(Kind.TOOL_CALL, index, id);
  }

  /** Returns the part with the arguments of a call. */
  public static TurnPart arguments(int index, String id) {
    return new TurnPart(Kind.ARGUMENTS, index, id);
  }

  public boolean isContent() {
    return kind == null;
  }

  public boolean isReasoning() {
    return kind == Kind.REASONING_CONTENT;
  }

  /** Returns whether the text is the name of a function, which opens a call. */
  public boolean opensCall() {
    return kind == Kind.TOOL_CALL;
  }
}
