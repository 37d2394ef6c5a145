package io.radixflow.grammar;

/**
 * Finds the next bytes of a text where its grammar allows only one continuation apart from white
 * space: names of a JSON object's properties, for example, and the punctuation around them. White
 * space is guessed: it is the same as after the last equal byte of the text, and a space after the
 * first colon or comma.
 */
final class ForcedText {
  private static final short NONE = -1;

  /** The number of last bytes of the text that are searched for white space in similar places. */
  private static final int REMEMBERED = 512;

  private final Automaton automaton;
  private final byte[] text;
  private final int length;
  private final byte[] target;
  private GrammarState state;
  private int count;

  private ForcedText(
      Automaton automaton, GrammarState state, byte[] text, int length, byte[] target) {
    this.automaton = automaton;
    this.state = state;
    this.text = text;
    this.length = length;
    this.target = target;
  }

  /**
   * Writes the text that must follow a state.
   *
   * @param state after the first {@code length} bytes of {@code text}
   * @return the number of bytes written
   */
  static int write(
      Automaton automaton, GrammarState state, byte[] text, int length, byte[] target) {
    ForcedText forced = new ForcedText(automaton, state, text, length, target);
    boolean goesOn = true;
    while (goesOn && forced.count < target.length) {
      goesOn = forced.next();
    }
    int end = forced.count;
    while (end > 0 && isSpace(target[end - 1] & 0xFF)) {
      end--; // white space alone or before a choice is not a useful guess
    }
    return end;
  }

  /** Writes white space, if it is likely here, and the only possible byte. */
  private boolean next() {
    int value = forced(state);
    if (value == NONE) {
      return false;
    }
    if (!isSpace(value)) {
      writeSpaces();
    }
    return count < target.length && write(value);
  }

  private boolean write(int value) {
    GrammarState after = automaton.step(state, value);
    if (after.isDead()) {
      return false;
    }
    state = after;
    target[count++] = (byte) value;
    return true;
  }

  /** Writes the white space that followed the last occurrence of the previous byte. */
  private void writeSpaces() {
    int last = count > 0 ? target[count - 1] : length > 0 ? text[length - 1] : 0;
    if (last != ':' && last != ',' && last != '{' && last != '[') {
      return;
    }
    int at = length - 2;
    int first = Math.max(0, length - REMEMBERED);
    while (at >= first && text[at] != last) {
      at--;
    }
    if (at >= first) {
      for (int i = at + 1; i < length && isSpace(text[i] & 0xFF); i++) {
        writeSpace(text[i] & 0xFF);
      }
    } else if (last == ':' || last == ',') {
      writeSpace(' ');
    }
  }

  private void writeSpace(int value) {
    if (count < target.length && automaton.goesOnWith(state, value)) {
      write(value);
    }
  }

  /**
   * Returns the only byte besides white space that may come in a state; {@link #NONE} for a choice.
   */
  private short forced(GrammarState state) {
    if (state.forced == GrammarState.UNKNOWN) {
      state.forced = state.accepting ? NONE : find(state);
    }
    return state.forced;
  }

  private short find(GrammarState state) {
    int only = NONE;
    int space = NONE;
    boolean manySpaces = false;
    for (int value = 0; value < 256; value++) {
      if (!automaton.goesOnWith(state, value)) {
        continue;
      }
      if (isSpace(value)) {
        manySpaces |= space != NONE;
        space = value;
      } else if (only != NONE) {
        return NONE;
      } else {
        only = value;
      }
    }
    return (short) (only == NONE && !manySpaces ? space : only);
  }

  private static boolean isSpace(int value) {
    return value == ' ' || value == '\n' || value == '\t' || value == '\r';
  }
}
