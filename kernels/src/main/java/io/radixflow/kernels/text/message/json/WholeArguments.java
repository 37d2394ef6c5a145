package io.radixflow.kernels.text.message.json;

/** Arguments that were known whole when the call was: they stood before its name, or are none. */
public record WholeArguments(String json) implements Arguments {

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
