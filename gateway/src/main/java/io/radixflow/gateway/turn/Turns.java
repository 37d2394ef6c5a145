package io.radixflow.gateway.turn;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.radixflow.gateway.topics.LogPace;
import io.radixflow.gateway.topics.Topics;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts, follows, resumes and cancels turns, and sends queries to the job. All APIs of the gateway
 * use this one object. Thread-safe; no method blocks.
 *
 * <p>A record of a session without followed turns costs one look-up of its key; it is not parsed.
 */
public final class Turns implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Turns.class);

  /** How long to wait for an answer. The job answers at once, unless it restarts. */
  private static final int ANSWER_MINUTES = 2;

  private final Topics topics;

  /** The waiters of each session. Lists are replaced, never changed. */
  private final Map<String, List<TurnWaiter>> bySession = new ConcurrentHashMap<>();

  private final TurnMetrics metrics;
  private final TurnFollower.Owner owner = new Follower();
  private final WaitingText waitingText = WaitingText.ofHeap();
  private final LeftTurns left = new LeftTurns();

  /** Starts reading the topics. {@link #close} closes the topics. */
  public Turns(Topics topics, PrometheusRegistry registry) {
    this.topics = topics;
    this.metrics = new TurnMetrics(registry, this::followed);
    topics.follow(new Records());
  }

  /**
   * Sends an event that starts a turn, and follows it.
   *
   * @param event an event with a turn id that was never used; the job ignores a used id
   */
  public TurnStream start(ConversationEvent event, Following following, TurnListener listener) {
    TurnFollower follower = follow(TurnKey.of(event), null, 0, following, listener);
    begin(follower, event);
    return follower;
  }

  /**
   * Does what {@link #start} does, but also accepts a used turn id: then it follows the existing
   * turn from its beginning. It fails if the id was used for a different request. If the job had no
   * room and rejected the turn before, the turn is tried again under another id.
   */
  public TurnStream startOrResume(
      ConversationEvent event, Following following, TurnListener listener) {
    return new RepeatedTurn(this, event, following, listener).start();
  }

  /** Does what {@link #startOrResume} does, but tries only the event's turn id. */
  public TurnStream startOrResumeOnce(
      ConversationEvent event, Following following, TurnListener listener) {
    String stamp = RequestStamp.of(event);
    TurnFollower follower = follow(TurnKey.of(event), stamp, 0, following, listener);
    if (begin(follower, RequestStamp.on(event, stamp))) {
      owner.ask(follower);
    }
    return follower;
  }

  /**
   * Follows a turn that any gateway started earlier, and that may have ended. If the job does not
   * know the turn, or it belongs to another tenant, it ends as rejected.
   *
   * @param offset how many code points of the reply the listener already has
   */
  public TurnStream resume(TurnKey key, int offset, Following following, TurnListener listener) {
    TurnFollower follower = follow(key, null, offset, following, listener);
    owner.ask(follower);
    return follower;
  }

  /**
   * Sends the event of a turn, unless the tenant may not start turns now. Returns whether the event
   * was sent.
   */
  private boolean begin(TurnFollower follower, ConversationEvent event) {
    if (left.tooMany(event.tenant())) {
      follower.refuse("too many turns whose clients have gone have not ended; try again");
      return false;
    }
    sendFor(follower, event);
    return true;
  }

  private TurnFollower follow(
      TurnKey key, String stamp, int offset, Following following, TurnListener listener) {
    TurnFollower follower =
        new TurnFollower(key, stamp, offset, following, listener, metrics, owner);
    add(follower);
    return follower;
  }

  /**
   * Sends an event that generates nothing, such as a query, and waits for its answer.
   *
   * @param event an event with a turn id that was never used
   * @return the only delta of the event; it is not committed yet and may be a rejection. Completes
   *     exceptionally if the brokers do not accept the event, or if no answer comes in time.
   *     Callbacks run on a thread of the topics and must not block
   */
  public CompletableFuture<ReplyDelta> ask(ConversationEvent event) {
    AnswerWaiting waiting = new AnswerWaiting(TurnKey.of(event), new CompletableFuture<>(), false);
    add(waiting);
    waiting.answer().orTimeout(ANSWER_MINUTES, TimeUnit.MINUTES);
    waiting.answer().whenComplete((answer, failure) -> remove(waiting));
    sendFor(waiting, event);
    return waiting.answer();
  }

  /** Sends an event without waiting for an answer. */
  public CompletableFuture<Void> send(ConversationEvent event) {
    return topics.send(event);
  }

  /** Cancels a turn, no matter which gateway follows it. */
  public void cancel(TurnKey key) {
    sendCancel(key);
  }

  private CompletableFuture<Void> sendCancel(TurnKey key) {
    return topics
        .send(
            ConversationEvent.builder(EventKind.CANCEL, key.session(), key.turn())
                .tenant(key.tenant())
                .build())
        .whenComplete(
            (sent, failure) -> {
              if (failure != null) {
                LOG.warn(
                    "Turn {} of session {} could not be cancelled: {}",
                    key.turn(),
                    key.session(),
                    failure.toString());
              }
            });
  }

  /** Returns the number of followed turns plus the number of answers that have not come. */
  public int followed() {
    return (int)
        bySession.values().stream()
            .flatMap(List::stream)
            .filter(each -> !(each instanceof AnswerWaiting answer) || !answer.left())
            .count();
  }

  /** Returns null if the job can be reached, else a text with the problem. */
  public String problem() {
    return topics.problem();
  }

  /** Stops reading and sending. Listeners are not called any more. */
  @Override
  public void close() {
    topics.close();
    bySession.clear();
  }

  private void sendFor(TurnWaiter waiting, ConversationEvent event) {
    topics
        .send(event)
        .whenComplete(
            (sent, failure) -> {
              if (failure != null) {
                LOG.warn(
                    "Turn {} of session {} could not be sent: {}",
                    event.turn(),
                    event.session(),
                    failure.toString());
                waiting.fail(new TurnException(failure.getMessage(), failure));
              }
            });
  }

  private void add(TurnWaiter waiting) {
    bySession.merge(
        waiting.key().session(),
        List.of(waiting),
        (before, one) -> {
          List<TurnWaiter> all = new ArrayList<>(before);
          all.addAll(one);
          return List.copyOf(all);
        });
  }

  private void remove(TurnWaiter waiting) {
    removeIf(waiting.key().session(), each -> each == waiting);
  }

  private void removeIf(String session, Predicate<TurnWaiter> over) {
    bySession.computeIfPresent(
        session,
        (key, before) -> {
          List<TurnWaiter> rest = before.stream().filter(over.negate()).toList();
          return rest.isEmpty() ? null : rest;
        });
  }

  /** Handles the ends and questions of followers. */
  private final class Follower implements TurnFollower.Owner {

    @Override
    public WaitingText waiting() {
      return waitingText;
    }

    @Override
    public void finished(TurnFollower follower, boolean cancel) {
      if (cancel) {
        leave(follower.key());
      }
      removeIf(
          follower.key().session(),
          each ->
              each == follower
                  || each instanceof StateWaiting state && state.follower() == follower);
    }

    /** Cancels a turn, and counts it until it has ended. */
    private void leave(TurnKey key) {
      AnswerWaiting turn = left.add(key);
      add(turn);
      turn.answer().whenComplete((done, late) -> remove(turn));
      sendCancel(key)
          .exceptionally(
              failure -> {
                turn.answer().complete(null);
                return null;
              });
    }

    @Override
    public void ask(TurnFollower follower) {
      if (!follower.beginToAsk()) {
        return;
      }
      TurnKey key = follower.key();
      ConversationEvent query =
          ConversationEvent.builder(EventKind.QUERY, key.session(), "query_" + UUID.randomUUID())
              .tenant(key.tenant())
              .atTurn(key.turn())
              .build();
      StateWaiting waiting = new StateWaiting(TurnKey.of(query), follower, Turns.this::remove);
      add(waiting);
      sendFor(waiting, query);
    }
  }

  /**
   * Passes records to the waiters of their turns. If a record cannot be handled, its waiters end,
   * because it may be the last record.
   */
  private final class Records implements Topics.Reader {

    private final LogPace unreadable = new LogPace();

    @Override
    public void delta(byte[] session, byte[] value) {
      List<TurnWaiter> waiting = waiting(session);
      if (waiting.isEmpty()) {
        return;
      }
      try {
        ReplyDelta delta = RecordReader.delta(value);
        each(waiting, delta.turn(), one -> one.delta(delta));
      } catch (IOException e) {
        missed(waiting, e);
      }
    }

    @Override
    public void reply(byte[] session, byte[] value) {
      List<TurnWaiter> waiting = waiting(session).stream().filter(TurnWaiter::needsReply).toList();
      if (waiting.isEmpty()) {
        return;
      }
      try {
        Reply reply = RecordReader.reply(value);
        each(waiting, reply.turn(), one -> one.reply(reply));
      } catch (IOException e) {
        missed(waiting, e);
      }
    }

    private void missed(List<TurnWaiter> waiting, IOException why) {
      long count = unreadable.due();
      if (count > 0) {
        LOG.warn("{} records of the job cannot be read; asking the job instead", count, why);
      }
      each(waiting, null, TurnWaiter::interrupted);
    }

    @Override
    public void interrupted() {
      for (List<TurnWaiter> waiting : bySession.values()) {
        each(waiting, null, TurnWaiter::interrupted);
      }
    }

    /**
     * @param turn turn whose waiters are called; null for all turns
     */
    private void each(List<TurnWaiter> waiting, String turn, Consumer<TurnWaiter> action) {
      for (TurnWaiter one : waiting) {
        if (turn != null && !one.key().turn().equals(turn)) {
          continue;
        }
        try {
          action.accept(one);
        } catch (RuntimeException | Error e) {
          TurnKey key = one.key();
          LOG.error("Turn {} of session {} cannot be followed", key.turn(), key.session(), e);
          one.fail(new TurnException("the gateway failed; its log says why", e));
        }
      }
    }

    private List<TurnWaiter> waiting(byte[] session) {
      return session == null
          ? List.of()
          : bySession.getOrDefault(new String(session, UTF_8), List.of());
    }
  }
}
