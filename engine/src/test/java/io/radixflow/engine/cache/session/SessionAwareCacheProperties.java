package io.radixflow.engine.cache.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tuple;

/**
 * Random lives of sessions. After each operation every page has one owner and every claim is
 * counted, and each look-up that goes on at a session's position finds what one from the root
 * finds.
 */
class SessionAwareCacheProperties {
  private static final int POOL = 40;
  private static final int OPERATIONS = 2_000;
  private static final List<SessionBounds> BOUNDS =
      List.of(
          SessionBounds.DEFAULT, new SessionBounds(2, 2, 1, 1), new SessionBounds(9, 1, 0.2, 0.3));

  enum Kind {
    /** A turn that adds to its branch, or forks it. */
    BEGIN,
    /** A turn whose prompt keeps only the beginning: a reply made again, a trimmed window. */
    CUT,
    COMMIT,
    END,
    ABORT,
    CLOSE,
    RECLAIM
  }

  record Operation(Kind kind, int session, int branch, int[] tokens, int number) {
    @Override
    public String toString() {
      return "%s s%d b%d %s/%d".formatted(kind, session, branch, Arrays.toString(tokens), number);
    }
  }

  record Setup(int pageTokens, String policy, SessionBounds bounds) {}

  /** The sessions' histories beside the cache. */
  private static final class Life {
    final SessionWorld world;
    final Map<String, int[]> histories = new HashMap<>();

    Life(Setup setup) {
      world = new SessionWorld(POOL, setup.pageTokens, setup.bounds, setup.policy);
    }

    void apply(Operation operation) {
      String session = "t" + operation.session % 2 + operation.session;
      switch (operation.kind) {
        case BEGIN -> begin(session, operation, Integer.MAX_VALUE);
        case CUT -> begin(session, operation, operation.number);
        case COMMIT -> {
          SessionWorld.Turn turn = running(operation.number);
          if (turn != null) {
            int full = turn.tokens.length / world.cache.pageTokens();
            world.commit(turn, Math.min(full, turn.cachedPages + 1));
          }
        }
        case END -> end(operation.number, true);
        case ABORT -> end(operation.number, false);
        case CLOSE -> {
          world.close(session);
          assertThat(world.close(session)).isZero();
          histories.keySet().removeIf(name -> name.startsWith(session + "/"));
        }
        case RECLAIM -> {
          int can = Math.min(operation.number, world.sessions.reclaimablePages());
          assertThat(world.sessions.reclaim(operation.number)).isEqualTo(can);
          world.check();
        }
      }
    }

    /** All turns end and all sessions are closed, which leaves nothing. */
    void close() {
      while (!world.running.isEmpty()) {
        end(0, true);
      }
      List.copyOf(world.slots.keySet()).forEach(world::close);
      assertThat(world.sessions.sessionPages()).isZero();
      assertThat(world.sessions.slots()).isZero();
      assertThat(world.sessions.hotSlots()).isZero();
      assertThat(world.allocator.free()).isEqualTo(POOL);
    }

    private SessionWorld.Turn running(int number) {
      return world.running.isEmpty() ? null : world.running.get(number % world.running.size());
    }

    private void begin(String session, Operation operation, int keep) {
      String branch = session + "/" + operation.branch;
      int[] before = histories.get(branch);
      if (before == null) {
        before = histories.getOrDefault(session + "/0", new int[] {1, 2, 3, 4, 5});
      }
      int kept = Math.min(keep, before.length);
      int[] tokens = Arrays.copyOf(before, kept + operation.tokens.length);
      System.arraycopy(operation.tokens, 0, tokens, kept, operation.tokens.length);
      if (world.running.size() < 4 && tokens.length > 0) {
        world.begin(session, branch, tokens);
      }
    }

    private void end(int number, boolean lasting) {
      SessionWorld.Turn turn = running(number);
      if (turn != null) {
        int most = turn.tokens.length;
        int least = turn.cachedPages * world.cache.pageTokens();
        int computed = lasting ? most : least + number % (most - least + 1);
        world.end(turn, computed, lasting);
        if (lasting && !turn.slot.isClosed()) {
          histories.put(turn.branch, turn.tokens);
        }
      }
    }
  }

  @Property(tries = 1500)
  void noPageIsLostAndNoneIsFoundThatIsNotThere(
      @ForAll("setups") Setup setup, @ForAll("operations") List<Operation> operations) {
    Life life = new Life(setup);
    operations.forEach(life::apply);
    life.close();
  }

  /** 2,000 operations for each policy, page size and bound, 54,000 in all. */
  @Property(tries = 1, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
  void noPageIsLostInThousandsOfOperations(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (String policy : List.of("lru", "slru", "adaptive")) {
      for (int pageTokens : List.of(1, 4, 16)) {
        for (SessionBounds bounds : BOUNDS) {
          Life life = new Life(new Setup(pageTokens, policy, bounds));
          for (int i = 0; i < OPERATIONS; i++) {
            Operation operation = operation(random, pageTokens);
            try {
              life.apply(operation);
            } catch (AssertionError | RuntimeException e) {
              throw new AssertionError(
                  policy + ", page " + pageTokens + ", " + i + ": " + operation, e);
            }
          }
          life.close();
        }
      }
    }
  }

  private static Operation operation(SplittableRandom random, int pageTokens) {
    Kind[] kinds = Kind.values();
    Kind kind = kinds[random.nextInt(kinds.length)];
    if (random.nextBoolean()) {
      kind = random.nextBoolean() ? Kind.BEGIN : Kind.END;
    }
    int[] tokens = random.ints(random.nextInt(3 * pageTokens), 0, 2).toArray();
    return new Operation(
        kind, random.nextInt(6), random.nextInt(2), tokens, random.nextInt(13 * pageTokens));
  }

  @Provide
  Arbitrary<Setup> setups() {
    return Combinators.combine(
            Arbitraries.of(1, 2, 4),
            Arbitraries.of("lru", "slru", "lfu", "priority"),
            Arbitraries.of(BOUNDS))
        .as(Setup::new);
  }

  @Provide
  Arbitrary<List<Operation>> operations() {
    Arbitrary<int[]> tokens = Arbitraries.integers().between(0, 1).array(int[].class).ofMaxSize(9);
    return Combinators.combine(
            Arbitraries.frequencyOf(
                Tuple.of(4, Arbitraries.of(Kind.BEGIN, Kind.END)),
                Tuple.of(2, Arbitraries.of(Kind.CUT, Kind.COMMIT, Kind.ABORT)),
                Tuple.of(1, Arbitraries.of(Kind.CLOSE, Kind.RECLAIM))),
            Arbitraries.integers().between(0, 3),
            Arbitraries.integers().between(0, 1),
            tokens,
            Arbitraries.integers().between(0, 12))
        .as(Operation::new)
        .list()
        .ofMaxSize(80);
  }
}
