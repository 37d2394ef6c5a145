package io.radixflow.operators.flink.recovery;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** An output that commits for a second what it took; the test says what became of the rest. */
public final class SuspectOutput implements LostReplies {
  private static final long serialVersionUID = 1L;
  public static final long COMMIT_MILLIS = 1_000;

  private final transient List<Asked> asked = new ArrayList<>();

  /** A search that the test answers. */
  public static final class Asked implements LostReplies.Search {
    final Set<Id> wanted;
    final long since;
    boolean closed;
    private final CompletableFuture<Set<Id>> lost = new CompletableFuture<>();

    private Asked(Set<Id> wanted, long since) {
      this.wanted = wanted;
      this.since = since;
    }

    void allLost() {
      lost.complete(wanted);
    }

    void noneLost() {
      lost.complete(Set.of());
    }

    void fail() {
      lost.completeExceptionally(new IllegalStateException("it is not known"));
    }

    @Override
    public CompletableFuture<Set<Id>> lost() {
      return lost;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** The searches so far. */
  public List<Asked> asked() {
    return asked;
  }

  /** The latest search. */
  public Asked last() {
    return asked.get(asked.size() - 1);
  }

  @Override
  public long commitMillis() {
    return COMMIT_MILLIS;
  }

  @Override
  public Search search(Set<Id> wanted, long since) {
    Asked search = new Asked(wanted, since);
    asked.add(search);
    return search;
  }
}
