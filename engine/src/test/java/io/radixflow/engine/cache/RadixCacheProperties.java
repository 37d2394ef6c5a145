package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.CacheWorld.Kind;
import io.radixflow.engine.cache.CacheWorld.Operation;
import io.radixflow.engine.cache.CacheWorld.Setting;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.List;
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

/** The tree against a list of pages, operation by operation. */
class RadixCacheProperties {
  private static final List<Integer> PAGE_SIZES = List.of(1, 4, 16);
  private static final int OPERATIONS = 5_000;
  private static final int OPERATIONS_WITH_BOTH = 300;

  /** A reset comes this often; without it no page would grow old. */
  private static final int RESET_EVERY = 1_000;

  @Property(tries = 1000)
  void theTreeHoldsWhatAListOfPagesHolds(
      @ForAll("runs") Tuple.Tuple2<Setting, List<Operation>> run) {
    CacheWorld world = new CacheWorld(run.get1(), 1);
    run.get2().forEach(world::apply);
    world.close();
  }

  /** 5,000 operations for each policy and each page size, 135,000 in all. */
  @Property(tries = 1, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
  void theTreeHoldsWhatAListOfPagesHoldsAfterThousandsOfOperations(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (Setting setting : settings()) {
      CacheWorld world = new CacheWorld(setting, seed);
      for (int i = 1; i <= OPERATIONS; i++) {
        Operation operation = operation(random, setting.pageTokens(), i);
        try {
          world.apply(operation);
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError(setting + ", operation " + i + ": " + operation, e);
        }
      }
      world.close();
    }
  }

  /** Matches are compared with the list of pages in either. */
  @Property(tries = 5, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
  void theSeedOfTheHashesChangesNothing(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (Setting setting : settings()) {
      CacheWorld one = new CacheWorld(setting, random.nextLong());
      CacheWorld other = new CacheWorld(setting, random.nextLong());
      for (int i = 1; i <= OPERATIONS_WITH_BOTH; i++) {
        Operation operation = operation(random, setting.pageTokens(), i);
        one.apply(operation);
        other.apply(operation);
        assertThat(other.freedEver()).as(setting.toString()).isEqualTo(one.freedEver());
      }
    }
  }

  private static List<Setting> settings() {
    List<Setting> settings = new ArrayList<>();
    for (String policy : EvictionPolicies.names()) {
      for (int pageTokens : PAGE_SIZES) {
        settings.add(new Setting(pageTokens, policy));
      }
    }
    return settings;
  }

  private static Operation operation(SplittableRandom random, int pageTokens, int index) {
    Kind[] kinds = Kind.values();
    Kind kind = kinds[random.nextInt(kinds.length - 1)];
    if (random.nextInt(3) == 0) {
      kind = random.nextBoolean() ? Kind.START : Kind.EXTEND;
    }
    int[] tokens = new int[random.nextInt(9 * pageTokens)];
    for (int i = 0; i < tokens.length; i++) {
      boolean telling = i % pageTokens == pageTokens - 1 || random.nextInt(64) == 0;
      tokens[i] = telling ? random.nextInt(2) : 0;
    }
    return new Operation(
        index % RESET_EVERY == 0 ? Kind.RESET : kind,
        List.of("", "a", "b").get(random.nextInt(3)),
        tokens,
        random.nextInt(3) == 0 ? random.nextInt(4 * pageTokens) : 0,
        random.nextInt(13));
  }

  @Provide
  Arbitrary<Tuple.Tuple2<Setting, List<Operation>>> runs() {
    Arbitrary<Setting> settings =
        Combinators.combine(Arbitraries.of(1, 2, 4), Arbitraries.of(EvictionPolicies.names()))
            .as(Setting::new);
    return settings.flatMap(
        setting -> {
          Arbitrary<int[]> tokens =
              Arbitraries.integers()
                  .between(0, 1)
                  .array(int[].class)
                  .ofMaxSize(9 * setting.pageTokens());
          Arbitrary<Operation> operation =
              Combinators.combine(
                      Arbitraries.of(Kind.class),
                      Arbitraries.of("", "", "a", "b"),
                      tokens,
                      Arbitraries.of(0, 0, 4, 9),
                      Arbitraries.integers().between(0, 12))
                  .as(Operation::new);
          return operation.list().ofMaxSize(120).map(operations -> Tuple.of(setting, operations));
        });
  }
}
