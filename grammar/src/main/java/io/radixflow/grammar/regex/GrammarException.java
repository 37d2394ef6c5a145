package io.radixflow.grammar.regex;

/**
 * Reports that a grammar is malformed, asks for something that is not supported, or is too large.
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

  /** Returns this error with its subject, unless it already has one. */
  public GrammarException of(String subject) {
    boolean said = subject.isEmpty() || getCause() instanceof GrammarException;
    return said ? this : new GrammarException(this, subject);
  }

  /** Returns the refused keyword of the schema, or the kind of fault. */
  public String keyword() {
    return keyword;
  }

  /** Returns the place in the grammar, a JSON pointer or an offset; empty if unknown. */
  public String place() {
    return place;
  }
}
