package io.radixflow.text.reply.json;

/**
 * Arguments that are written as JSON. They are passed on as they arrive, with control characters
 * escaped.
 */
public final class JsonArguments implements CallArguments {

  private final LenientJson json = new LenientJson();

  @Override
  public int read(CharSequence text, int from, StringBuilder out) {
    int at = from;
    while (at < text.length() && !json.done()) {
      char c = text.charAt(at);
      boolean inString = json.inString();
      json.accept(c);
      if (json.broken()) {
        break;
      }
      if (inString && c < ' ') {
        JsonStrings.append(out, c);
      } else {
        out.append(c);
      }
      at++;
    }
    return at;
  }

  @Override
  public State state() {
    return json.done() ? State.DONE : json.broken() ? State.BROKEN : State.OPEN;
  }
}
