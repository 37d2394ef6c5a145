package io.radixflow.lab.drill.http;

import io.radixflow.lab.traffic.ConversationSource;
import io.radixflow.lab.traffic.Script;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * The requests of one conversation over HTTP, a function of a seed. Half of the conversations are
 * chats, whose client sends the whole conversation each time; the others are chains of responses.
 * Some requests follow an earlier request than the last one, some are cancelled, and some lose
 * their connection on purpose. Some ask for JSON or for tool calls; the request after a call
 * contains the call's result.
 *
 * <p>The text of a cancelled turn depends on when the cancel comes, so nothing follows it.
 *
 * @param name name of the conversation and prefix of its requests' keys
 * @param chat whether the conversation is a chat
 */
public record HttpScript(String name, boolean chat, List<Step> steps) {
  /** The system prompt of all conversations of a drill. */
  public static final String SYSTEM =
      "You are a harbour master who answers sailors briefly and kindly, and knows every light.";

  private static final double HOT = 0.9;
  private static final int PIECES = 12;

  /** Means none, for steps and for pieces. */
  static final int NONE = -1;

  public HttpScript {
    steps = List.copyOf(steps);
  }

  /**
   * A request for a reply.
   *
   * @param input what the user says
   * @param after index of the step that it follows, or {@link #NONE}
   * @param form form of the reply
   * @param temperature 0 to 0.9
   * @param seed seed of the sampling, or null
   * @param maxTokens most tokens of the reply
   * @param streamed whether to stream the reply
   * @param dropAfter pieces after which the client leaves, to come back; or {@link #NONE}
   * @param cancelAfter pieces after which the client cancels the reply, or {@link #NONE}
   */
  public record Step(
      String input,
      int after,
      TurnForm form,
      double temperature,
      Long seed,
      int maxTokens,
      boolean streamed,
      int dropAfter,
      int cancelAfter) {}

  /**
   * Returns a conversation.
   *
   * @param number number of the conversation; unique among conversations with the same seed
   * @param turns number of requests
   */
  public static HttpScript of(long seed, int number, int turns, int maxTokens) {
    SplittableRandom random = new SplittableRandom(seed * 7_368_787 + number);
    String name = "harbour-" + Long.toHexString(seed) + "-" + number;
    boolean chat = number % 2 == 0;
    List<Step> steps = new ArrayList<>();
    List<Integer> open = new ArrayList<>();
    for (int i = 0; i < turns; i++) {
      int after = NONE;
      if (!open.isEmpty()) {
        boolean last = random.nextInt(4) > 0;
        after = open.get(last ? open.size() - 1 : random.nextInt(open.size()));
      }
      boolean streamed = random.nextInt(8) > 0;
      boolean cancelled = !chat && streamed && random.nextInt(8) == 0;
      boolean dropped = !chat && streamed && !cancelled && random.nextInt(3) == 0;
      int piece = random.nextInt(PIECES);
      TurnForm form = TurnForm.draw(random);
      Long given = number % 3 == 1 ? (Long) (random.nextLong() >>> 16) : null;
      steps.add(
          new Step(
              form.input(name + ", " + i + ": " + ConversationSource.question(random)),
              after,
              form,
              number % 3 == 0 ? 0 : HOT,
              given,
              maxTokens,
              streamed,
              dropped ? piece : NONE,
              cancelled ? piece : NONE));
      if (!cancelled) {
        open.add(i);
      }
    }
    return new HttpScript(name, chat, steps);
  }

  /** Returns the key of a step's request, with which the request can be sent again. */
  String key(int step) {
    return name + "-" + step;
  }

  /** Returns the requests, one after the other; a turn that failed is the last. */
  public Script<HttpTurn, Heard> conversation() {
    return new Script<>() {
      private final Map<Integer, Heard> said = new HashMap<>();
      private boolean failed;

      @Override
      public boolean ended() {
        return failed || said.size() == steps.size();
      }

      @Override
      public Script.Step<HttpTurn> next(int inFlight) {
        return inFlight > 0 || ended()
            ? null
            : new Script.Step<>(HttpTurn.of(HttpScript.this, said.size(), said), 0, true);
      }

      @Override
      public void answered(HttpTurn turn, Heard reply) {
        said.put(said.size(), reply);
        failed = reply.finish() == null;
      }
    };
  }
}
