package io.radixflow.lab.replay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.Tuple.Tuple2;

/** Compares the cache with SGLang's tree and with a model of single pages. */
class TraceReplayProperties {

  /** The meaning of the numbers depends on the kind. */
  record Operation(Kind kind, String namespace, int[] tokens, int number) {
    @Override
    public String toString() {
      return kind + " " + namespace + " " + Arrays.toString(tokens) + " " + number;
    }
  }

  enum Kind {
    INSERT,
    MATCH,
    LOCK,
    UNLOCK,
    EVICT
  }

  private static List<TraceStep> record(TraceSetup setup, List<Operation> operations) {
    TraceRecorder recorder = new TraceRecorder(setup);
    for (Operation operation : operations) {
      switch (operation.kind) {
        case INSERT -> recorder.insert(operation.namespace, operation.tokens, operation.number % 4);
        case MATCH -> recorder.match(operation.namespace, operation.tokens, false);
        case LOCK -> recorder.match(operation.namespace, operation.tokens, true);
        case UNLOCK -> recorder.unlock(operation.number);
        case EVICT -> recorder.evict(operation.number);
      }
    }
    return recorder.steps();
  }

  private static List<Mismatch> replay(
      List<TraceStep> steps, Function<ReplayReport, TraceReplay> opened) {
    List<Mismatch> mismatches = new ArrayList<>();
    TraceReplay replay = opened.apply(new ReplayReport(mismatches::add));
    steps.forEach(replay::apply);
    return mismatches;
  }

  @Property(tries = 700)
  void withoutEvictionsTheCacheThatServesFindsAllThatSglangFinds(
      @ForAll("runs") Tuple2<TraceSetup, List<Operation>> run) {
    TraceSetup setup = run.get1();
    List<Operation> operations =
        run.get2().stream().filter(operation -> operation.kind != Kind.EVICT).toList();
    List<TraceStep> steps = record(setup, operations);

    assertThat(
            replay(
                steps,
                report -> new NativeReplay(setup, NativeReplay.pagesFor(setup, steps), report)))
        .isEmpty();
  }

  @Property(tries = 1000)
  void withEvictionsItFindsAtLeastWhatTheModelFinds(
      @ForAll("runs") Tuple2<TraceSetup, List<Operation>> run) {
    TraceSetup setup = run.get1();
    List<TraceStep> steps = record(setup, run.get2());

    assertThat(
            replay(
                steps,
                report -> new NativeReplay(setup, NativeReplay.pagesFor(setup, steps), report)))
        .isEmpty();
  }

  @Property(tries = 200)
  void aTraceOfSglangsTreeIsItsOwnReplay(@ForAll("runs") Tuple2<TraceSetup, List<Operation>> run) {
    List<TraceStep> steps = record(run.get1(), run.get2());

    assertThat(replay(steps, report -> new CompatReplay(run.get1(), report))).isEmpty();
  }

  @Provide
  Arbitrary<Tuple2<TraceSetup, List<Operation>>> runs() {
    Arbitrary<TraceSetup> setups =
        Combinators.combine(
                Arbitraries.of("lru", "lfu", "fifo", "mru", "filo", "slru", "priority"),
                Arbitraries.of(1, 2, 4),
                Arbitraries.of(false, true))
            .as(TraceSetup::new);
    return setups.flatMap(
        setup ->
            operation(setup).list().ofMaxSize(100).map(operations -> Tuple.of(setup, operations)));
  }

  /** Sequences of two tokens only, so that most share a prefix. */
  private static Arbitrary<Operation> operation(TraceSetup setup) {
    return Combinators.combine(
            Arbitraries.frequency(
                Tuple.of(4, Kind.INSERT),
                Tuple.of(3, Kind.MATCH),
                Tuple.of(1, Kind.LOCK),
                Tuple.of(1, Kind.UNLOCK),
                Tuple.of(3, Kind.EVICT)),
            Arbitraries.of("a", "b").injectNull(0.7),
            Arbitraries.integers()
                .between(0, 1)
                .array(int[].class)
                .ofMaxSize(8 * setup.pageTokens() + 1),
            Arbitraries.integers().between(0, 10 * setup.pageTokens()))
        .as(Operation::new);
  }
}
