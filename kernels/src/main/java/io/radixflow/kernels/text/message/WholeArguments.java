package io.radixflow.kernels.text.message;

/** Arguments that were known whole when the call was: they stood before its name, or are none. */
record WholeArguments(String json) implements Arguments {

  static final WholeArguments NONE = new WholeArguments("{}");

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
