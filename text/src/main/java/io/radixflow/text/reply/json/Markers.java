package io.radixflow.text.reply.json;

import java.util.List;

/** Searches for fixed texts in a text whose end may still be missing. */
public final class Markers {

  public static final int NONE = 0;

  /** The text ends inside a marker. */
  public static final int PART = 1;

  public static final int WHOLE = 2;

  private final List<String> markers;
  private final String firsts;

  public Markers(List<String> markers) {
    this.markers = markers;
    StringBuilder first = new StringBuilder();
    markers.forEach(m -> first.append(m.charAt(0)));
    firsts = first.toString();
  }

  /**
   * Returns the first position where a marker begins or may begin; the length of the text if there
   * is none.
   */
  public int seek(CharSequence text, int from) {
    int at = from;
    while (at < text.length() && at(text, at) == NONE) {
      at++;
    }
    return at;
  }

  /** Returns whether a marker is at a position: {@link #NONE}, {@link #PART} or {@link #WHOLE}. */
  public int at(CharSequence text, int at) {
    if (at >= text.length() || firsts.indexOf(text.charAt(at)) < 0) {
      return NONE;
    }
    int best = NONE;
    for (String marker : markers) {
      best = Math.max(best, match(marker, text, at));
    }
    return best;
  }

  public static int match(String marker, CharSequence text, int at) {
    int length = Math.min(marker.length(), text.length() - at);
    for (int i = 0; i < length; i++) {
      if (marker.charAt(i) != text.charAt(at + i)) {
        return NONE;
      }
    }
    return length == marker.length() ? WHOLE : PART;
  }
}
