package io.radixflow.text;

import io.radixflow.text.tokenizer.Tokenizer;
import io.radixflow.text.tokenizer.VocabularyTokenizer;
import java.util.List;
import java.util.Map;

/**
 * Turns the tokens of one reply into text as they arrive. The text is cut at the first stop string,
 * and released only when no later token can change it.
 *
 * <p>Only whole characters are released: bytes of an unfinished character wait for the next token.
 * Text that may be the beginning of a stop string is held back until that is decided. The state is
 * a function of the ids so far, so it can be rebuilt by feeding them again. Not thread-safe. Per
 * token, only the text itself grows.
 */
public final class ReplyText {

  private final Tokenizer tokenizer;
  private final Map<Integer, String> markup;
  private final Utf8Decoder decoder = new Utf8Decoder();
  private final List<String> given;
  private final StopMatcher stops;
  private final boolean includesStop;
  private final int minTokens;
  private final StringBuilder text = new StringBuilder();
  private byte[] bytes = new byte[64];
  private boolean atStart = true;
  private int tokens;
  private int scanned;
  private int decided;
  private int decidedCodePoints;
  private int taken;
  private int takenCodePoints;
  private String stop;

  /**
   * @param stops strings that end the reply and are not part of it; must not be empty strings
   */
  public ReplyText(Tokenizer tokenizer, List<String> stops) {
    this(tokenizer, stops, Map.of());
  }

  /**
   * @param stops strings that end the reply and are not part of it; must not be empty strings
   * @param markup special tokens that are part of the text, and their text
   */
  public ReplyText(Tokenizer tokenizer, List<String> stops, Map<Integer, String> markup) {
    this(tokenizer, stops, markup, false, 0);
  }

  /**
   * @param stops strings that end the reply; must not be empty strings
   * @param markup special tokens that are part of the text, and their text
   * @param includesStop whether the text includes the stop string
   * @param minTokens until the reply has this many tokens, a stop string does not end it
   */
  public ReplyText(
      Tokenizer tokenizer,
      List<String> stops,
      Map<Integer, String> markup,
      boolean includesStop,
      int minTokens) {
    this.includesStop = includesStop;
    this.minTokens = minTokens;
    this.tokenizer = tokenizer;
    this.markup = markup;
    this.given = stops;
    this.stops = new StopMatcher(stops.stream().map(ReplyText::wellFormed).toList());
  }

  /** Notes that the reply already has text before its first token. */
  public void begun() {
    atStart = false;
  }

  /**
   * Adds the reply's next token. Does nothing after a stop string was complete.
   *
   * @return whether a stop string is complete
   */
  public boolean accept(int id) {
    if (stop == null) {
      tokens++;
      decode(id);
      scan();
      decide(stop == null ? text.length() - stops.held() : text.length());
    }
    return stop != null;
  }

  /** Ends the reply. An unfinished character becomes U+FFFD, and held text is released. */
  public void finish() {
    if (stop == null) {
      decoder.flush(text);
      scan();
      decide(text.length());
    }
  }

  /** The stop string that ended the reply, as the caller gave it; null if there is none. */
  public String stop() {
    return stop;
  }

  /**
   * Number of code points taken so far, which is the offset of the next text from {@link #take}.
   */
  public int taken() {
    return takenCodePoints;
  }

  /** Returns whether {@link #take} would return text. */
  public boolean hasNew() {
    return decided > taken;
  }

  /** Returns the text that was decided since the last call; empty if there is none. */
  public String take() {
    String fresh = text.substring(taken, decided);
    taken = decided;
    takenCodePoints = decidedCodePoints;
    return fresh;
  }

  /** Returns all text that is decided so far. */
  public String text() {
    return text.substring(0, decided);
  }

  /** Appends the characters that a token completes. Most special tokens have no characters. */
  private void decode(int id) {
    int count = tokenizer.byteCount(id);
    if (count == 0) {
      mark(id);
      return;
    }
    if (count > bytes.length) {
      bytes = new byte[count * 2];
    }
    tokenizer.copyBytes(id, bytes, 0);
    if (atStart) {
      atStart = false;
      if (bytes[0] == ' ' && tokenizer.dropsLeadingSpace()) {
        System.arraycopy(bytes, 1, bytes, 0, --count);
      }
    }
    decoder.decode(bytes, count, text);
  }

  private void mark(int id) {
    String mark = markup.isEmpty() ? null : markup.get(id);
    if (mark != null) {
      decoder.flush(text);
      atStart = false;
      text.append(mark);
    }
  }

  private void scan() {
    while (scanned < text.length()) {
      int found = stops.accept(text.charAt(scanned++));
      if (found >= 0 && tokens > minTokens) {
        stop = given.get(found);
        text.setLength(includesStop ? scanned : scanned - stops.length(found));
        return;
      }
    }
  }

  private void decide(int end) {
    for (int i = decided; i < end; i++) {
      if (!Character.isLowSurrogate(text.charAt(i))) {
        decidedCodePoints++;
      }
    }
    decided = Math.max(decided, end);
  }

  /**
   * Replaces the lone surrogates of a stop string with the character that a reply has in their
   * place. Replies do not contain lone surrogates.
   */
  private static String wellFormed(String stop) {
    return new String(VocabularyTokenizer.wellFormed(stop));
  }
}
