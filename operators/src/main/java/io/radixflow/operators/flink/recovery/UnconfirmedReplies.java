package io.radixflow.operators.flink.recovery;

import io.radixflow.protocol.record.Reply;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the replies whose commit is not confirmed, and emits lost ones again exactly as they were.
 * The output commits replies after a checkpoint. A commit may come too late if the job or the
 * brokers were down for long, or if an old savepoint is restored. The output does not report that.
 *
 * <p>A reply is in keyed state from the mail that emits it. So it is in every checkpoint from the
 * one that commits it until it is forgotten. The output tries to commit once a checkpoint is
 * complete, and at the latest before its part of the next checkpoint. So when the next checkpoint
 * is also complete, the commit has been tried. If the reply is younger than {@link
 * LostReplies#commitMillis}, the commit was in time, and the reply is forgotten. Otherwise a search
 * decides: a lost reply is emitted into the transaction of the next checkpoint and is unconfirmed
 * again; any other reply is forgotten. After a restore the replies of the restored checkpoint are
 * treated in the same way; their commit is tried once more before the next checkpoint.
 *
 * <p>Only the task's thread uses it.
 */
public final class UnconfirmedReplies implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(UnconfirmedReplies.class);

  private static final String STATE = "unconfirmed-replies";

  private final KeyedStateBackend<String> backend;
  private final MapState<String, EmittedReply> state;
  private final LostReplies lost;
  private final LongSupplier clock;
  private final MailboxExecutor mailbox;
  private final Consumer<Reply> output;

  private Interval current = new Interval();
  private final Deque<Interval> closed = new ArrayDeque<>();
  private long lastComplete;

  /** Replies that may not have been committed in time. */
  private Interval doubtful = new Interval();

  private LostReplies.Search search;
  private boolean suspended;

  /** The search for replies that may have to be emitted again. */
  private final List<Answer> held = new ArrayList<>();

  /** The replies that were emitted between two barriers. */
  private static final class Interval {
    final List<LostReplies.Id> replies = new ArrayList<>();
    long oldest = Long.MAX_VALUE;
    long checkpoint;

    void add(LostReplies.Id reply, long emitted) {
      replies.add(reply);
      oldest = Math.min(oldest, emitted);
    }

    void addAll(Interval other) {
      replies.addAll(other.replies);
      oldest = Math.min(oldest, other.oldest);
    }
  }

  private record Answer(Set<LostReplies.Id> wanted, Set<LostReplies.Id> gone) {}

  /**
   * Starts with the replies of the restored checkpoint. Changes the current key.
   *
   * @param lost finds lost replies; null if the output cannot lose replies, and then no replies are
   *     kept
   * @param clock milliseconds since the epoch
   * @param output takes a reply that is emitted again
   */
  public UnconfirmedReplies(
      KeyedStateStore store,
      KeyedStateBackend<String> backend,
      LostReplies lost,
      LongSupplier clock,
      MailboxExecutor mailbox,
      Consumer<Reply> output)
      throws Exception {
    this.backend = backend;
    this.state = store.getMapState(descriptor());
    this.lost = lost;
    this.clock = clock;
    this.mailbox = mailbox;
    this.output = output;
    if (lost != null) {
      restore();
    }
  }

  /** Returns the name and type of the state: replies whose commit is not known, by turn id. */
  public static MapStateDescriptor<String, EmittedReply> descriptor() {
    return new MapStateDescriptor<>(STATE, Types.STRING, TypeInformation.of(EmittedReply.class));
  }

  private void restore() throws Exception {
    Interval restored = new Interval();
    for (String session : sessions()) {
      backend.setCurrentKey(session);
      for (Map.Entry<String, EmittedReply> each : state.entries()) {
        restored.add(new LostReplies.Id(session, each.getKey()), each.getValue().emitted());
      }
    }
    if (isInTime(restored)) {
      closed.add(restored);
    } else {
      doubt(restored);
    }
  }

  private List<String> sessions() {
    try (Stream<String> keys = backend.getKeys(STATE, VoidNamespace.INSTANCE)) {
      return keys.toList();
    }
  }

  /** Called in the mail that emits a reply of the current session. */
  public void emitted(Reply reply) throws Exception {
    if (lost != null) {
      keep(reply);
    }
  }

  private void keep(Reply reply) throws Exception {
    long now = clock.getAsLong();
    state.put(reply.turn(), new EmittedReply(now, reply));
    current.add(new LostReplies.Id(reply.session(), reply.turn()), now);
  }

  /** Called while the state is written after the barrier of a checkpoint. */
  public void barrier(long checkpoint) {
    if (!current.replies.isEmpty()) {
      current.checkpoint = checkpoint;
      closed.add(current);
      current = new Interval();
    }
  }

  /** Called when a checkpoint is complete. Changes the current key. */
  public void complete(long checkpoint) throws Exception {
    while (!closed.isEmpty() && closed.peek().checkpoint <= lastComplete) {
      Interval tried = closed.remove();
      if (isInTime(tried)) {
        for (LostReplies.Id reply : tried.replies) {
          forget(reply);
        }
      } else {
        doubt(tried);
      }
    }
    lastComplete = Math.max(lastComplete, checkpoint);
  }

  private boolean isInTime(Interval interval) {
    return interval.replies.isEmpty() || clock.getAsLong() - interval.oldest < lost.commitMillis();
  }

  private void forget(LostReplies.Id reply) throws Exception {
    backend.setCurrentKey(reply.session());
    state.remove(reply.turn());
  }

  private void doubt(Interval interval) {
    doubtful.addAll(interval);
    if (search == null) {
      search();
    }
  }

  private void search() {
    Set<LostReplies.Id> wanted = Set.copyOf(doubtful.replies);
    LOG.info(
        "Searching for {} replies that may not be committed, the oldest emitted {} s ago",
        wanted.size(),
        (clock.getAsLong() - doubtful.oldest) / 1000);
    search = lost.search(wanted, doubtful.oldest);
    doubtful = new Interval();
    search
        .lost()
        .whenComplete(
            (gone, failure) ->
                mailbox.execute(() -> searched(wanted, gone, failure), "lost replies"));
  }

  private void searched(Set<LostReplies.Id> wanted, Set<LostReplies.Id> gone, Throwable failure)
      throws Exception {
    search.close();
    search = null;
    if (failure != null) {
      LOG.error(
          "The search for {} replies failed; the job searches for them again when it restarts",
          wanted.size(),
          failure);
    } else if (suspended) {
      held.add(new Answer(wanted, gone));
    } else {
      settle(new Answer(wanted, gone));
    }
    if (!doubtful.replies.isEmpty()) {
      search();
    }
  }

  private void settle(Answer answer) throws Exception {
    for (LostReplies.Id id : answer.wanted()) {
      if (!answer.gone().contains(id)) {
        forget(id);
        continue;
      }
      backend.setCurrentKey(id.session());
      Reply reply = state.get(id.turn()).reply();
      keep(reply);
      output.accept(reply);
    }
  }

  /** Removes all text from the replies of the current session, because it was erased. */
  public void erase() throws Exception {
    Iterator<Map.Entry<String, EmittedReply>> replies = state.iterator();
    while (replies.hasNext()) {
      Map.Entry<String, EmittedReply> each = replies.next();
      EmittedReply kept = each.getValue();
      each.setValue(new EmittedReply(kept.emitted(), kept.reply().erased()));
    }
  }

  /** Returns whether a search for replies that may have to be emitted again is running. */
  public boolean isBusy() {
    return search != null || !held.isEmpty();
  }

  /** Stops emitting lost replies. */
  public void suspend() {
    suspended = true;
  }

  /** Continues after {@link #suspend}. Changes the current key. */
  public void resume() throws Exception {
    suspended = false;
    for (Answer answer : held) {
      settle(answer);
    }
    held.clear();
  }

  /** Ends the searches; their replies stay in the state. */
  @Override
  public void close() {
    if (search != null) {
      search.close();
    }
  }
}
