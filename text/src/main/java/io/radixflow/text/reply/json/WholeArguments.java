package io.radixflow.text.reply.json;

/**
 * Arguments that are complete when the call begins, because they came before its name or the call
 * has none.
 */
public record WholeArguments(String json) implements CallArguments {

  public static final WholeArguments NONE = new WholeArguments("{}");

  @Override
  public int read(CharSequence text, int from, StringBuilder out) {
    out.append(json);
    return from;
  }

  @Override
  public State state() {
    return State.DONE;
  }
}
