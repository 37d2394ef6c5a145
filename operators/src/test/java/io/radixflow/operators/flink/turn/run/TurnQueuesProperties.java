package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.engine.TenantCounts;
import io.radixflow.protocol.record.EventKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.BeforeTry;

/** Which turn a subtask starts next: tenants take turns, their sessions do, and these' branches. */
class TurnQueuesProperties {

  /** Turns of one tenant, one branch a session: sessions in a circle, each with a queue. */
  private static final class ByHand {
    private final Map<String, Deque<Long>> queues = new HashMap<>();
    private final Set<String> running = new HashSet<>();
    private final List<String> circle = new ArrayList<>();

    void add(String session, long turn) {
      queues.computeIfAbsent(session, s -> new ArrayDeque<>()).add(turn);
      join(session);
    }

    void ended(String session) {
      running.remove(session);
      queues.get(session).remove();
      join(session);
    }

    private void join(String session) {
      boolean may = !running.contains(session) && !queues.get(session).isEmpty();
      if (may && !circle.contains(session)) {
        circle.add(session);
      }
    }

    Long start() {
      if (circle.isEmpty()) {
        return null;
      }
      String session = circle.remove(0);
      running.add(session);
      return queues.get(session).peek();
    }
  }

  private TurnQueues queues;
  private Map<Long, TurnQueues.Branch> started;
  private long turns;

  @BeforeTry
  void begin() {
    begin(Map.of());
  }

  private void begin(Map<String, Integer> weights) {
    queues = new TurnQueues(new TenantCounts().share(), weights);
    started = new LinkedHashMap<>();
    turns = 0;
  }

  @Property(tries = 200)
  void theOrderIsThatOfSessionsInACircle(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 50) int sessions) {
    Random random = new Random(seed);
    ByHand byHand = new ByHand();
    for (int i = 0; i < 1_000; i++) {
      int choice = random.nextInt(3);
      if (choice == 0) {
        String session = "session " + random.nextInt(sessions);
        byHand.add(session, add("", session, "main"));
      } else if (choice == 1) {
        assertThat(start()).isEqualTo(byHand.start());
      } else if (!started.isEmpty()) {
        TurnQueues.Branch ended = end(started.keySet().iterator().next());
        byHand.ended(ended.session.id);
      }
    }
  }

  @Example
  void aFloodOfTwoThousandTurnsInFourSessionsDelaysAnotherSessionByFourTurns() {
    for (int i = 0; i < 2_000; i++) {
      add("", "flood " + i % 4, "branch " + i / 4 % 50);
    }
    for (int i = 0; i < 30; i++) {
      start();
    }
    long bystander = add("", "bystander", "main");
    List<Long> next = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      end(started.keySet().iterator().next());
      next.add(start());
    }
    assertThat(next).contains(bystander);
  }

  @Example
  void theBranchesOfASessionTakeTurns() {
    long first = add("", "s", "a");
    add("", "s", "a");
    long other = add("", "s", "b");
    assertThat(start()).isEqualTo(first);
    end(first);
    assertThat(start()).isEqualTo(other);
  }

  @Example
  void tenantsTakeTurnsHoweverManySessionsOneHas() {
    for (int i = 0; i < 1_000; i++) {
      add("many", "session " + i, "main");
    }
    long few = add("few", "session", "main");
    start();
    assertThat(start()).isEqualTo(few);
  }

  @Example
  void tenantsStartTurnsByTheirWeights() {
    begin(Map.of("heavy", 3));
    for (int i = 0; i < 100; i++) {
      add("light", "session " + i, "main");
      add("heavy", "session of heavy " + i, "main");
    }
    int heavy = 0;
    for (int i = 0; i < 80; i++) {
      heavy += started.get(start()).session.tenant.equals("heavy") ? 1 : 0;
    }
    assertThat(heavy).isEqualTo(60);
  }

  @Example
  void aTenantThatCameLaterHasNoMoreThanItsShare() {
    for (int i = 0; i < 100; i++) {
      add("first", "session " + i, "main");
    }
    for (int i = 0; i < 40; i++) {
      start();
    }
    for (int i = 0; i < 100; i++) {
      add("later", "session of later " + i, "main");
    }
    int later = 0;
    for (int i = 0; i < 20; i++) {
      later += started.get(start()).session.tenant.equals("later") ? 1 : 0;
    }
    assertThat(later).isEqualTo(10);
  }

  /**
   * Each turn takes as long with 100,000 sessions as with a few: this would take minutes if not.
   */
  @Example
  void aHundredThousandSessionsAreInTurn() {
    int sessions = 100_000;
    List<Long> expected = new ArrayList<>();
    for (int i = 0; i < sessions; i++) {
      expected.add(add("", "session " + i, "main"));
    }
    List<Long> order = new ArrayList<>();
    for (Long turn = start(); turn != null; turn = start()) {
      order.add(turn);
      end(turn);
    }
    assertThat(order).isEqualTo(expected);
    assertThat(queues.sessions()).isZero();
  }

  private long add(String tenant, String session, String branch) {
    long id = turns++;
    queues.restore(session, tenant, turn(id, branch));
    return id;
  }

  /** Starts the next turn; returns its id, or null if none may start. */
  private Long start() {
    TurnQueues.Branch branch = queues.pollReady();
    if (branch == null) {
      return null;
    }
    branch.running = new RunningTurn(branch, null, null, null, List.of(), null, null);
    long id = branch.turns.peek().id();
    started.put(id, branch);
    return id;
  }

  private TurnQueues.Branch end(long id) {
    TurnQueues.Branch branch = started.remove(id);
    branch.running = null;
    queues.remove(branch, branch.turns.peek());
    return branch;
  }

  private static TurnQueues.Entry turn(long id, String branch) {
    return new TurnQueues.Entry(
        id, EventKind.MESSAGE, branch, "t" + id, 10, new TurnQueues.Before(branch, null, -1));
  }
}
