package io.radixflow.grammar.regex;

/**
 * Reports that a grammar is malformed, asks for something that is not supported, or is too large to
 * be served.
 */
public final class GrammarException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String keyword;
  private final String place;

  public GrammarException(String keyword, String place, String message) {
    super(message + (place.isEmpty() ? "" : " (at " + place + ")"));
    this.keyword = keyword;
    this.place = place;
  }

  private GrammarException(GrammarException about, String subject) {
    super(subject + ": " + about.getMessage(), about);
    keyword = about.keyword;
    place = about.place;
  }

  public static GrammarException tooLarge(String message) {
    return new GrammarException("size", "", "the grammar is too large: " + message);
  }

  /** Returns this error with what it is about, unless it says that already. */
  public GrammarException of(String subject) {
    boolean said = subject.isEmpty() || getCause() instanceof GrammarException;
    return said ? this : new GrammarException(this, subject);
  }

  /** The keyword of the schema that is refused, or the kind of fault. */
  public String keyword() {
    return keyword;
  }

  /** The place in the grammar, a JSON pointer or an offset; empty if it is not known. */
  public String place() {
    return place;
  }
}
