package io.radixflow.lab.drill;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Chooses the next fault, like a card from a deck that is shuffled by a seed. */
public final class FaultPlan implements Supplier<Fault> {
  private static final int KILLS_A_DECK = 4;

  private final List<Fault> kinds;
  private final Random random;
  private final Deque<Fault> left = new ArrayDeque<>();
  private final BooleanSupplier goesOn;

  /**
   * @param goesOn whether to continue with this or another deck; null to deal just one deck
   */
  private FaultPlan(List<Fault> kinds, long seed, BooleanSupplier goesOn) {
    this.kinds = List.copyOf(kinds);
    this.random = new Random(seed);
    this.goesOn = goesOn;
  }

  /**
   * Returns a plan that deals decks of all these kinds until the time is over. The time begins with
   * the first fault. TaskManagers and HTTP gateways are killed most often.
   */
  public static FaultPlan lasting(
      List<Fault> kinds, Duration time, long seed, LongSupplier nanoTime) {
    AtomicReference<Long> begun = new AtomicReference<>();
    return new FaultPlan(
        kinds,
        seed,
        () -> {
          begun.compareAndSet(null, nanoTime.getAsLong());
          return nanoTime.getAsLong() - begun.get() < time.toNanos();
        });
  }

  public static FaultPlan of(List<Fault> faults, long seed) {
    FaultPlan plan = new FaultPlan(faults, seed, null);
    plan.left.addAll(plan.shuffled(faults));
    return plan;
  }

  @Override
  public Fault get() {
    if (goesOn == null) {
      return left.poll();
    }
    if (!goesOn.getAsBoolean()) {
      return null;
    }
    if (left.isEmpty()) {
      List<Fault> deck = new ArrayList<>(kinds);
      deck.addAll(Collections.nCopies(KILLS_A_DECK - 1, Fault.TASKMANAGER_KILLED));
      deck.addAll(Collections.nCopies(KILLS_A_DECK - 1, Fault.GATEWAY_KILLED));
      left.addAll(shuffled(deck));
    }
    return left.poll();
  }

  private List<Fault> shuffled(List<Fault> faults) {
    List<Fault> deck = new ArrayList<>(faults);
    Collections.shuffle(deck, random);
    return deck;
  }
}
