package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random trees of turns that name the one before them, against a map from turn to conversation. */
class FollowingTurnProperties {
  private static final int TURNS = 40;

  /** Turns in the order in which they were sent, and the turn before each. */
  private static final class Tree {
    final Random random;
    final Map<String, String> previous = new HashMap<>();
    final Map<String, Boolean> appended = new HashMap<>();
    final Map<String, Reply> replies = new HashMap<>();

    Tree(long seed) {
      this.random = new Random(seed);
    }

    Events next() {
      int n = previous.size();
      String turn = "t" + n;
      String before = n == 0 || random.nextInt(6) == 0 ? "" : "t" + random.nextInt(n);
      previous.put(turn, before);
      appended.put(turn, random.nextInt(5) == 0);
      EventKind kind = appended.get(turn) ? EventKind.APPEND : EventKind.MESSAGE;
      return Events.of(kind, "s", turn)
          .with(new Message("user", "text of " + turn))
          .with(e -> e.previousTurn(before));
    }

    /** The conversation up to a turn; null if one of its turns left nothing. */
    List<Message> conversation(String turn) {
      if (turn.isEmpty()) {
        return new ArrayList<>();
      }
      List<Message> before = conversation(previous.get(turn));
      Reply reply = replies.get(turn);
      if (reply == null) {
        return null; // what was cancelled before it ran may follow a turn that still runs
      }
      boolean kept =
          reply.finishReason().equals("stop")
              || reply.finishReason().equals("cancelled") && !reply.text().isEmpty();
      if (before == null || !kept) {
        return null;
      }
      before.add(HistoryMatchTest.user("text of " + turn));
      if (!appended.get(turn)) {
        before.add(HistoryMatchTest.assistant(reply.text()));
      }
      return before;
    }

    void check(ServingHarness h) {
      h.replies().forEach(reply -> replies.put(reply.turn(), reply));
      for (Reply reply : h.replies()) {
        List<Message> before = conversation(previous.get(reply.turn()));
        if (before == null) {
          boolean ended = reply.finishReason().equals("cancelled") && reply.text().isEmpty();
          assertThat(ended || reply.error().code() == ErrorCode.UNKNOWN_TURN)
              .as("%s follows nothing: %s", reply.turn(), reply)
              .isTrue();
        } else if (reply.usage().promptTokens() > 0) {
          before.add(HistoryMatchTest.user("text of " + reply.turn()));
          assertThat(HistoryMatchTest.prompt(h, reply.turn())).isEqualTo(before);
        } else {
          assertThat(reply.finishReason()).isIn("stop", "cancelled");
        }
      }
    }
  }

  @Property(tries = 10)
  void everyTurnContinuesTheTurnThatItNames(@ForAll long seed) throws Exception {
    Tree tree = new Tree(seed);
    ServingOptions options =
        Options.with(
            o -> {
              o.maxQueuedPerSession = 10 * TURNS;
              o.maxBranches = 10 * TURNS;
              o.maxRunning = 1 + tree.random.nextInt(4);
            });
    ScriptedEngine engine = new ScriptedEngine(1 << 16, 4);
    ServingHarness h = ServingHarness.of(engine, options);
    h.open();
    for (int i = 0; i < TURNS; i++) {
      Events event = tree.next();
      h.send(event);
      switch (tree.random.nextInt(7)) {
        case 0 -> h.settle();
        case 1, 2 -> h.generate(1 + tree.random.nextInt(4));
        case 3 -> h.send(Events.of(EventKind.CANCEL, "s", "t" + tree.random.nextInt(i + 1)));
        case 4 -> {
          tree.check(h);
          var state = h.snapshot();
          h.close();
          h = ServingHarness.of(engine, options).restore(state, 1);
          h.send(event);
        }
        default -> {}
      }
    }
    h.settle();
    tree.check(h);
    assertThat(tree.replies).hasSize(TURNS);
    h.close();
  }
}
