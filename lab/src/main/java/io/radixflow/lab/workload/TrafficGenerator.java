package io.radixflow.lab.workload;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.EventWriter;
import io.radixflow.protocol.topic.ReplyLimiter;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Makes up the records of conversations on the job's topics of events and replies, ordered by time.
 * Sessions open with a shared system prompt, have turns with think times between them, and are
 * closed or abandoned. Texts are nonsense words. Only running sessions are in memory.
 */
public final class TrafficGenerator {
  private static final int MAX_BYTES = 16 << 20;
  private static final double LENGTH_SPREAD = 0.8;
  private static final double THINK_SPREAD = 1.2;
  private static final double REPLY_MILLIS_PER_WORD = 25;

  /** Receives one record. */
  @FunctionalInterface
  public interface Sink {
    /**
     * @param millis time of the record, from 0
     * @param json the record
     */
    void accept(long millis, byte[] json) throws IOException;
  }

  private final TrafficModel model;
  private final ReplyLimiter replies = new ReplyLimiter(MAX_BYTES);
  private final Words words;

  /**
   * @throws IllegalArgumentException if a value of the model is out of range
   */
  public TrafficGenerator(TrafficModel model) {
    model.check();
    this.model = model;
    this.words = new Words(new Random(model.seed));
  }

  private static final class Session {
    final String id;
    final Random random;
    final int turns;
    final boolean closes;
    int turn;
    boolean asked;
    String reply;
    long time;

    Session(String id, Random random, int turns, boolean closes, long time) {
      this.id = id;
      this.random = random;
      this.turns = turns;
      this.closes = closes;
      this.time = time;
    }
  }

  /** Writes all records to the sink. */
  public void run(Sink sink) throws IOException {
    Random arrivals = new Random(model.seed + 1);
    PriorityQueue<Session> running =
        new PriorityQueue<>(
            Comparator.<Session>comparingLong(s -> s.time).thenComparing(s -> s.id));
    double start = 0;
    for (int i = 0; i < model.sessions; i++) {
      advance(running, (long) start, sink);
      running.add(session(i, (long) start));
      start -= 1000 * model.arrivalSeconds * StrictMath.log(1 - arrivals.nextDouble());
    }
    advance(running, Long.MAX_VALUE, sink);
  }

  /** Runs everything that is due before a time. */
  private void advance(PriorityQueue<Session> running, long until, Sink sink) throws IOException {
    while (!running.isEmpty() && running.peek().time < until) {
      Session session = running.poll();
      if (step(session, sink)) {
        running.add(session);
      }
    }
  }

  private Session session(int number, long time) {
    Random random = new Random(StrictMath.floorMod(model.seed * 1_000_003 + number, 1L << 48));
    int turns = 1;
    if (random.nextDouble() >= model.onlyOneTurn) {
      double more = -model.turns * StrictMath.log(1 - random.nextDouble());
      turns += 1 + (int) Math.min(10_000, more * (1 - 1 / model.turns));
    }
    boolean closes = random.nextDouble() < model.closed;
    return new Session("s" + number, random, turns, closes, time);
  }

  /** Writes the next event or reply of a session; returns whether the session continues. */
  private boolean step(Session session, Sink sink) throws IOException {
    if (session.turn == 0 && !session.asked) {
      sink.accept(session.time, event(session, EventKind.OPEN, null, system(session)));
    }
    if (session.asked) {
      session.asked = false;
      session.turn++;
      sink.accept(session.time, reply(session));
      session.time += pause(session.random);
      return session.turn < session.turns || session.closes;
    }
    if (session.turn == session.turns) {
      sink.accept(session.time, event(session, EventKind.CLOSE, null, List.of()));
      return false;
    }
    List<Message> message =
        List.of(new Message("user", words.text(session.random, model.messageWords)));
    sink.accept(session.time, event(session, EventKind.MESSAGE, turnId(session), message));
    session.asked = true;
    session.reply = words.text(session.random, model.replyWords);
    session.time += 200 + (long) (REPLY_MILLIS_PER_WORD * session.reply.length() / 5);
    return true;
  }

  private List<Message> system(Session session) {
    double total = 0;
    for (int i = 1; i <= model.systemPrompts; i++) {
      total += 1.0 / i;
    }
    double at = session.random.nextDouble() * total;
    int chosen = 1;
    while (chosen < model.systemPrompts && (at -= 1.0 / chosen) > 0) {
      chosen++;
    }
    Random text = new Random(model.seed * 31 + chosen);
    return List.of(new Message("system", words.text(text, model.systemWords)));
  }

  private long pause(Random random) {
    double seconds = model.thinkSeconds * StrictMath.exp(THINK_SPREAD * random.nextGaussian());
    return 1 + (long) (1000 * Math.min(seconds, 1e6));
  }

  private static String turnId(Session session) {
    return Integer.toString(session.turn + 1);
  }

  private static byte[] event(Session s, EventKind kind, String turn, List<Message> messages) {
    return EventWriter.write(
        ConversationEvent.builder(kind, s.id, turn)
            .messages(messages)
            .origin(new Origin(-1, -1, s.time))
            .build());
  }

  private byte[] reply(Session s) {
    return replies.write(
        Reply.builder(
                s.id, ConversationEvent.MAIN_BRANCH, Integer.toString(s.turn), EventKind.MESSAGE)
            .text(s.reply)
            .created(s.time)
            .build());
  }

  /** Texts of invented words. */
  private static final class Words {
    private static final int VOCABULARY = 4096;
    private static final String[] SYLLABLES = {
      "ba", "co", "den", "fi", "gar", "hul", "in", "ka", "lo", "mer", "no", "per", "ri", "sa",
      "tol", "un", "ve", "zi"
    };

    private final String[] vocabulary = new String[VOCABULARY];

    Words(Random random) {
      for (int i = 0; i < VOCABULARY; i++) {
        StringBuilder word = new StringBuilder();
        for (int n = 1 + random.nextInt(3); n > 0; n--) {
          word.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
        }
        vocabulary[i] = word.toString();
      }
    }

    /** Returns a text with a log-normal number of words around a median. */
    String text(Random random, int median) {
      double length = median * StrictMath.exp(LENGTH_SPREAD * random.nextGaussian());
      int count = (int) Math.max(1, Math.min(length, 100_000));
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < count; i++) {
        text.append(i == 0 ? "" : " ").append(vocabulary[random.nextInt(VOCABULARY)]);
      }
      return text.append('.').toString();
    }
  }
}
