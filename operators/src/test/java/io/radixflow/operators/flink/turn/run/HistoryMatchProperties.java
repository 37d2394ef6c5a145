package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ConversationHash;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * Clients that share a session and send their conversations as they have them: grown, edited, cut,
 * reformatted, sent again. The model is that of an API without sessions: a prompt is what the
 * client sent.
 */
class HistoryMatchProperties {
  private static final String SESSION = "s";
  private static final List<String> SPACE = List.of("", " ", "\n", "\r\n", "\t", "\u00a0", " \n ");

  /** Clients and what they know. */
  private static final class World {
    final Random random;
    final Map<String, List<Message>> sent = new HashMap<>();
    final Map<String, String> shown = new HashMap<>();
    int turns;

    World(long seed) {
      this.random = new Random(seed);
    }

    <T> T oneOf(List<T> things) {
      return things.get(random.nextInt(things.size()));
    }

    /** A conversation to go on with: one that was sent and what was seen of its reply, or none. */
    List<Message> known() {
      List<Message> known = new ArrayList<>();
      if (sent.isEmpty() || random.nextInt(8) == 0) {
        if (random.nextBoolean()) {
          known.add(new Message("system", oneOf(List.of("Be kind.", "Be brief."))));
        }
        return known;
      }
      String turn = oneOf(sent.keySet().stream().sorted().toList());
      known.addAll(sent.get(turn));
      if (shown.containsKey(turn)) {
        known.add(new Message("assistant", shown.get(turn)));
      }
      return known;
    }

    /** A conversation as a client may send it. */
    List<Message> conversation() {
      List<Message> conversation = known();
      if (random.nextInt(5) == 0 && conversation.size() > 1) {
        conversation = conversation.subList(0, 1 + random.nextInt(conversation.size() - 1));
      }
      if (random.nextInt(5) == 0 && !conversation.isEmpty()) {
        int at = random.nextInt(conversation.size());
        Message old = conversation.get(at);
        conversation.set(at, new Message(old.role(), old.content() + oneOf(List.of("!", "x"))));
      }
      conversation.replaceAll(m -> random.nextInt(3) == 0 ? reformatted(m) : m);
      if (conversation.isEmpty()
          || conversation.get(conversation.size() - 1).role().equals("system")
          || random.nextInt(6) > 0) {
        conversation.add(new Message("user", oneOf(List.of("one", "two", "a\nb", " c "))));
      }
      return conversation;
    }

    private Message reformatted(Message m) {
      String text = m.content().strip().replace("\n", oneOf(List.of("\n", "\r\n", "\r")));
      return new Message(m.role(), oneOf(SPACE) + text + oneOf(SPACE));
    }

    ConversationEvent next() {
      String turn = "t" + turns++;
      List<Message> conversation = List.copyOf(conversation());
      sent.put(turn, conversation);
      return HistoryMatchTest.whole(turn, conversation);
    }

    /** Clients see what was streamed. */
    void see(List<ReplyDelta> deltas) {
      Map<String, StringBuilder> texts = new HashMap<>();
      for (ReplyDelta delta : deltas) {
        StringBuilder text = texts.computeIfAbsent(delta.turn(), t -> new StringBuilder());
        text.setLength(Math.min(text.length(), delta.offset()));
        text.append(delta.text());
      }
      texts.forEach(
          (turn, text) -> {
            if (sent.containsKey(turn) && text.length() > 0) {
              shown.put(turn, text.toString());
            }
          });
    }
  }

  private static List<Message> canonical(List<Message> messages) {
    return messages.stream()
        .map(m -> new Message(m.role(), ConversationHash.canonical(m.content())))
        .collect(Collectors.toList());
  }

  private static void assertPromptsAreWhatWasSent(ServingHarness h, World world) {
    for (Reply reply : h.replies()) {
      if (reply.finishReason().equals("rejected")) {
        assertThat(reply.error().message()).contains("branches, all in use");
      } else if (reply.usage().promptTokens() > 0) {
        assertThat(canonical(HistoryMatchTest.prompt(h, reply.turn())))
            .as("prompt of %s", reply.turn())
            .isEqualTo(canonical(world.sent.get(reply.turn())));
      }
    }
  }

  @Property(tries = 25)
  void everyPromptIsTheConversationThatTheClientSent(@ForAll long seed) throws Exception {
    World world = new World(seed);
    ServingOptions options =
        Options.with(
            o -> {
              o.maxBranches = 2 + world.random.nextInt(6);
              o.maxQueuedPerSession = 100;
              o.maxRunning = 1 + world.random.nextInt(3);
            });
    ScriptedEngine engine = new ScriptedEngine(1 << 16, 4);
    ServingHarness h = ServingHarness.of(engine, options);
    h.open();
    for (int i = 0; i < 40; i++) {
      h.send(world.next());
      switch (world.random.nextInt(6)) {
        case 0, 1 -> h.settle();
        case 2 -> h.generate(1 + world.random.nextInt(3));
        case 3 ->
            h.send(Events.of(EventKind.CANCEL, SESSION, "t" + world.random.nextInt(world.turns)));
        case 4 -> {
          assertPromptsAreWhatWasSent(h, world);
          world.see(h.deltas());
          var state = h.snapshot();
          if (world.random.nextBoolean()) {
            h.settle();
            world.see(h.deltas());
          }
          h.close();
          h = ServingHarness.of(engine, options).restore(state, 1);
        }
        default -> {}
      }
      world.see(h.deltas());
    }
    h.settle();
    assertPromptsAreWhatWasSent(h, world);
    h.close();
  }

  @Property(tries = 8)
  void aConversationThatOnlyGrowsStaysOnItsBranchAndReusesEveryReply(@ForAll long seed)
      throws Exception {
    World world = new World(seed);
    try (ServingHarness h = ServingHarness.opened()) {
      List<Message> conversation = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        conversation.add(new Message("user", "text " + i));
        conversation.replaceAll(world::reformatted);
        h.send(HistoryMatchTest.whole("t" + i, conversation)).settle();
        conversation.add(new Message("assistant", h.reply("t" + i).text()));
      }
      assertThat(h.replies()).extracting(Reply::branch).containsOnly("main");
      assertThat(h.turnsKept(SESSION)).isEqualTo(12);
    }
  }

  /**
   * A client that has a whole reply goes on while the job, back at a checkpoint, makes that reply
   * again: the new turn continues it, as if there had been no failure.
   */
  @Property(tries = 12)
  void failuresChangeNeitherRepliesNorWhatTheyFollow(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    int rounds = 6;
    List<ConversationEvent> log = new ArrayList<>();
    List<Message> conversation = new ArrayList<>();
    ServingHarness h = ServingHarness.opened();
    String branch = null;
    for (int i = 0; i < rounds; i++) {
      conversation.add(new Message("user", "text " + i));
      ConversationEvent event = logged(HistoryMatchTest.whole("t" + i, conversation), i);
      log.add(event);
      h.send(event);
      h.generate(random.nextInt(8));
      var state = h.snapshot();
      h.settle();
      conversation.add(new Message("assistant", h.streamed("t" + i)));
      branch = h.deltas().get(h.deltas().size() - 1).branch();
      if (random.nextBoolean()) {
        h.close();
        h =
            ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)
                .restore(state, 1);
        h.generate(random.nextInt(4));
        for (ConversationEvent again : log.subList(random.nextInt(log.size()), log.size())) {
          h.send(again);
        }
      }
    }
    h.settle();
    assertThat(HistoryMatchTest.turns(h, branch))
        .containsExactly("t0", "t1", "t2", "t3", "t4", "t5");
    h.close();
  }

  private static ConversationEvent logged(ConversationEvent event, long offset) {
    return ConversationEvent.builder(event.kind(), event.session(), event.turn())
        .messages(List.copyOf(event.messages()))
        .matchHistory(event.matchHistory())
        .origin(new Origin(0, offset, 0))
        .build();
  }
}
