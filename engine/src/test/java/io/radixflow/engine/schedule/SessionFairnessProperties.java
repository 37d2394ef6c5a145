package io.radixflow.engine.schedule;

import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The sessions of a tenant take turns. */
class SessionFairnessProperties {
  private static final int NEVER = 1_000_000;

  /** Sessions in turn as one would do it by hand: all requests in a list, nothing indexed. */
  private static final class ByHand {
    private final List<Request> waiting = new ArrayList<>();
    private final Map<Request, Long> laps = new HashMap<>();
    private final Map<String, Long> next = new HashMap<>();

    void add(Request request) {
      long current = waiting.stream().mapToLong(laps::get).min().orElse(0);
      if (waiting.isEmpty()) {
        next.clear();
      }
      String session = request.spec.session().session();
      long lap = Math.max(current, next.getOrDefault(session, 0L));
      next.put(session, lap + 1);
      laps.put(request, lap);
      waiting.add(request);
    }

    Request admit() {
      Request first =
          waiting.stream()
              .min(
                  Comparator.comparingInt((Request request) -> -request.standing.urgency())
                      .thenComparing(laps::get)
                      .thenComparing(request -> request.sequence))
              .orElse(null);
      waiting.remove(first);
      return first;
    }
  }

  @Property(tries = 300)
  void theOrderIsThatOfSessionsInTurnByHand(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 100) int sessions) {
    Random random = new Random(seed);
    AdmissionModel model = new AdmissionModel(SchedulePolicy.FCFS, NEVER, pages());
    ByHand byHand = new ByHand();
    int busy = 3 + random.nextInt(5);
    for (int i = 0; i < 500; i++) {
      if (random.nextInt(10) < busy) {
        int priority = random.nextInt(10) == 0 ? 1 : 0;
        String session = "session " + random.nextInt(1 + random.nextInt(sessions));
        int[] prompt = letters(random.nextInt(20), 1 + random.nextInt(30));
        Request request = SchedulerRig.ofSession(i, prompt, priority, session);
        model.add(request);
        byHand.add(request);
      } else {
        assertThat(model.admit(random)).isSameAs(byHand.admit());
      }
    }
  }

  /** While a request of a session waits alone, each other session gets one admission at most. */
  @Property(tries = 200)
  void aSessionWaitsForOneRequestOfEachOther(@ForAll long seed, @ForAll SchedulePolicy policy) {
    Random random = new Random(seed);
    KvPages pages = pages();
    for (int family = 0; family < 4; family++) {
      SchedulerRig.cache(pages, letters(family, random.nextInt(200)), "");
    }
    AdmissionModel model = new AdmissionModel(policy, NEVER, pages);
    int sequence = 0;
    int sessions = 1 + random.nextInt(20);
    for (int i = 0; i < 300; i++) {
      model.add(flood(sequence++, sessions, random));
    }
    model.admit(random.nextInt(250));
    Request bystander = SchedulerRig.ofSession(sequence++, letters(9, 50), 0, "bystander");
    model.add(bystander);
    Map<String, Integer> before = new HashMap<>();
    for (Request next = model.admit(random); next != bystander; next = model.admit(random)) {
      assertThat(before.merge(next.spec.session().session(), 1, Integer::sum)).isEqualTo(1);
      model.add(flood(sequence++, sessions, random));
    }
  }

  private static Request flood(int sequence, int sessions, Random random) {
    int[] prompt = letters(random.nextInt(4), 1 + random.nextInt(200));
    String session = "flood " + random.nextInt(sessions);
    return SchedulerRig.ofSession(sequence, prompt, 0, session);
  }

  /** Ageing alone lets one of 16 admissions be another of the flood's. */
  @Example
  void aFloodOfTwoThousandTurnsInFourSessionsDelaysAnotherSessionByFourAdmissions() {
    KvPages pages = pages();
    SchedulerRig.cache(pages, letters(1, 200), "");
    AdmissionModel model = new AdmissionModel(SchedulePolicy.LPM, 16, pages);
    for (int i = 0; i < 2_000; i++) {
      model.add(SchedulerRig.ofSession(i, letters(1, 100), 0, "flood " + i % 4));
    }
    model.admit(100);
    Request bystander = SchedulerRig.ofSession(2_000, letters(2, 100), 0, "bystander");
    model.add(bystander);
    assertThat(model.admit(5)).contains(bystander);
  }

  @Example
  void aMoreUrgentRequestGoesFirstWhoeverIsNext() {
    AdmissionModel model = new AdmissionModel(SchedulePolicy.FCFS, 16, pages());
    model.add(SchedulerRig.ofSession(0, letters(1, 20), 0, "a"));
    model.add(SchedulerRig.ofSession(1, letters(1, 20), 0, "b"));
    model.add(SchedulerRig.ofSession(2, letters(1, 20), 5, "a"));
    assertThat(model.admit(3)).extracting(request -> request.sequence).containsExactly(2L, 0L, 1L);
  }

  @Example
  void thePolicyDecidesAmongSessionsThatHaveHadAsManyTurns() {
    KvPages pages = pages();
    SchedulerRig.cache(pages, letters(1, 200), "");
    AdmissionModel model = new AdmissionModel(SchedulePolicy.LPM, 16, pages);
    model.add(SchedulerRig.ofSession(0, letters(2, 100), 0, "cold"));
    model.add(SchedulerRig.ofSession(1, letters(1, 100), 0, "warm"));
    model.add(SchedulerRig.ofSession(2, letters(1, 120), 0, "warm"));
    assertThat(model.admit(3)).extracting(request -> request.sequence).containsExactly(1L, 0L, 2L);
  }

  @Example
  void requestsOfNoSessionAreEachTheirOwn() {
    AdmissionModel model = new AdmissionModel(SchedulePolicy.FCFS, 16, pages());
    for (int i = 0; i < 4; i++) {
      model.add(SchedulerRig.request(i, letters(1, 20), 1, "", ServiceClass.DEFAULT));
    }
    model.add(SchedulerRig.ofSession(4, letters(1, 20), 0, "a"));
    assertThat(model.admit(5)).extracting(request -> request.sequence).isSorted();
  }

  private static KvPages pages() {
    return SchedulerRig.pages(EngineOptions.builder().kvPages(200).pageTokens(16).build());
  }
}
