package io.radixflow.engine.draft;

/**
 * Where the last tokens of one reply occurred in the {@linkplain DraftHistory history} of its
 * namespace. Engine thread only.
 */
final class HistoryMatches implements Matches {
  private final DraftHistory history;
  private final String namespace;
  private final SuffixMatches found = new SuffixMatches();
  private int version;

  HistoryMatches(DraftHistory history, String namespace) {
    this.history = history;
    this.namespace = namespace;
  }

  /** Finds the matches of a text's end. The text has one token more than in the last call. */
  void follow(TextIndex own) {
    if (isErased()) {
      found.clear();
      version = history.version();
    }
    found.follow(own, history.texts(namespace));
  }

  private boolean isErased() {
    return version != history.version();
  }

  @Override
  public int matches() {
    return isErased() ? 0 : found.matches();
  }

  @Override
  public int best() {
    return found.best();
  }

  @Override
  public int matchLength(int match) {
    return found.matchLength(match);
  }

  @Override
  public int continuation(int match, int ahead) {
    return isErased() ? TextIndex.SEPARATOR : found.continuation(match, ahead);
  }
}
