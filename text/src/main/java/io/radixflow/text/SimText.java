package io.radixflow.text;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text side of the simulated model, which needs no file. */
public final class SimText {

  /** The name of the simulated model. Options may follow after a colon. */
  public static final String NAME = "sim";

  /** The number of positions of the simulated model, unless its name sets another. */
  public static final int CONTEXT_LENGTH = 4096;

  private static final Pattern CONTEXT = Pattern.compile("[:,]context=(\\d{1,7})(?![^,])");

  private SimText() {}

  /** Returns whether a name selects the simulated model. */
  public static boolean isNamed(String model) {
    return model.equals(NAME) || model.startsWith(NAME + ":");
  }

  /** Returns the tokenizer and the chat template. */
  public static TextModel open() {
    SimTokenizer tokenizer = new SimTokenizer();
    return TextModel.of(tokenizer, new SimChatTemplate(tokenizer));
  }

  /** Returns the number of positions of the model with a name. */
  public static int contextLength(String model) {
    Matcher given = CONTEXT.matcher(model);
    int length = CONTEXT_LENGTH;
    while (given.find()) {
      length = Integer.parseInt(given.group(1));
    }
    return length;
  }
}
