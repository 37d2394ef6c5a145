package io.radixflow.engine.schedule;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The order in which waiting requests are named, policy by policy. Pages have 16 tokens. */
@Timeout(180)
class SchedulePolicyTest {
  private final KvPages pages =
      SchedulerRig.pages(EngineOptions.builder().kvPages(4_000).pageTokens(16).build());
  private final List<Request> running = new ArrayList<>();

  private Admission admission(SchedulerOptions options) {
    return new Admission(options, options.policy(), pages, running);
  }

  private Admission admission(SchedulePolicy policy) {
    return admission(SchedulerOptions.DEFAULT.withPolicy(policy).withAgeing(1 << 20));
  }

  private static Request request(long sequence, int[] prompt) {
    return SchedulerRig.request(sequence, prompt, 10, "", ServiceClass.DEFAULT);
  }

  private static Request request(long sequence, int maxTokens, int priority) {
    ServiceClass service = new ServiceClass("", priority, "");
    return SchedulerRig.request(sequence, letters((int) sequence, 20), maxTokens, "", service);
  }

  private static Request keyed(long sequence, String key) {
    ServiceClass service = new ServiceClass("", 0, key);
    return SchedulerRig.request(sequence, letters((int) sequence, 20), 10, "", service);
  }

  /** Returns the sequences of the requests in the order in which they are named. */
  private static List<Long> order(Admission admission, Request... requests) {
    Arrays.stream(requests).forEach(admission::add);
    return order(admission);
  }

  private static List<Long> order(Admission admission) {
    List<Long> order = new ArrayList<>();
    admission.beginRound();
    for (Request next = admission.next(); next != null; next = admission.next()) {
      admission.admitted(next);
      order.add(next.sequence);
    }
    return order;
  }

  /** Case P1. */
  @Test
  void policiesAreFoundByNameAndAnUnknownOneIsRefusedWithTheList() {
    assertThat(SchedulePolicy.of("lpm")).isEqualTo(SchedulePolicy.LPM);
    assertThat(SchedulePolicy.of("LPM")).isEqualTo(SchedulePolicy.LPM);
    assertThat(SchedulePolicy.of("dfs-weight")).isEqualTo(SchedulePolicy.DFS_WEIGHT);
    assertThat(SchedulePolicy.of("fcfs")).isEqualTo(SchedulePolicy.FCFS);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SchedulePolicy.of("priority"))
        .withMessage(
            "the schedule policy 'priority' is unknown; it must be one of fcfs, lpm, dfs-weight,"
                + " lof, random, routing-key");
  }

  /** Case P1. */
  @Test
  void cacheAwarePoliciesFollowArrivalWithoutACache() {
    assertThat(SchedulePolicy.LPM.effective(false)).isEqualTo(SchedulePolicy.FCFS);
    assertThat(SchedulePolicy.DFS_WEIGHT.effective(false)).isEqualTo(SchedulePolicy.FCFS);
    assertThat(SchedulePolicy.LOF.effective(false)).isEqualTo(SchedulePolicy.LOF);
    assertThat(SchedulePolicy.LPM.effective(true)).isEqualTo(SchedulePolicy.LPM);
    EngineOptions naive =
        EngineOptions.builder()
            .kvPages(100)
            .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE))
            .build();
    SchedulerRig rig = new SchedulerRig(naive);
    Request first = rig.submit(letters(0, 20), 5);
    Request second = rig.submit(letters(1, 20), 5);
    rig.step();
    assertThat(rig.admitted).containsExactly(first, second);
  }

  /** Case P2. */
  @Test
  void fcfsKeepsTheOrderOfArrival() {
    assertThat(
            order(
                admission(SchedulePolicy.FCFS),
                request(3, letters(3, 100)),
                request(1, letters(1, 10)),
                request(2, letters(2, 50))))
        .containsExactly(1L, 2L, 3L);
  }

  /** Case P3; the sequence stands for the time of arrival. */
  @Test
  void aHigherPriorityGoesFirstThenArrival() {
    assertThat(
            order(
                admission(SchedulePolicy.FCFS),
                request(1, 10, 1),
                request(2, 10, 0),
                request(0, 10, 0)))
        .containsExactly(1L, 0L, 2L);
  }

  /** Case P3. */
  @Test
  void aLowerPriorityGoesFirstIfSetSo() {
    SchedulerOptions lowFirst =
        SchedulerOptions.DEFAULT.withPolicy(SchedulePolicy.FCFS).withPriorities(true, 10);
    assertThat(order(admission(lowFirst), request(1, 10, 0), request(2, 10, 0), request(3, 10, -1)))
        .containsExactly(3L, 1L, 2L);
  }

  /** Case P4. */
  @Test
  void lofNamesTheLongestOutputFirstAndPriorityBeforeIt() {
    assertThat(
            order(
                admission(SchedulePolicy.LOF),
                request(0, 10, 0),
                request(1, 1000, 0),
                request(2, 100, 0)))
        .containsExactly(1L, 2L, 0L);
    assertThat(
            order(
                admission(SchedulePolicy.LOF),
                request(0, 10, 1),
                request(1, 1000, 0),
                request(2, 100, 1)))
        .containsExactly(2L, 0L, 1L);
  }

  /** Case P5. */
  @Test
  void routingKeysThatRunMostGoFirstThenByName() {
    Admission admission = admission(SchedulePolicy.ROUTING_KEY);
    run(admission, keyed(0, "key_a"), keyed(1, "key_a"), keyed(2, "key_b"));
    assertThat(order(admission, keyed(3, "key_b"), keyed(4, "key_a"), keyed(5, "key_c")))
        .containsExactly(4L, 3L, 5L);
  }

  /** Case P5. */
  @Test
  void routingKeysThatRunEquallyOftenGoByNameAndThoseThatDoNotRunLast() {
    Admission admission = admission(SchedulePolicy.ROUTING_KEY);
    run(admission, keyed(0, "b"), keyed(1, "a"));
    assertThat(
            order(
                admission,
                keyed(2, "d"),
                keyed(3, "c"),
                keyed(4, "b"),
                keyed(5, "a"),
                keyed(6, "b")))
        .containsExactly(5L, 4L, 6L, 3L, 2L);
  }

  /** Case P5. */
  @Test
  void routingKeysChangeNothingWhileNothingRuns() {
    assertThat(
            order(
                admission(SchedulePolicy.ROUTING_KEY), keyed(0, "b"), keyed(1, "c"), keyed(2, "a")))
        .containsExactly(0L, 1L, 2L);
  }

  private void run(Admission admission, Request... requests) {
    order(admission, requests);
    for (Request request : requests) {
      request.standing.run();
      running.add(request);
    }
  }

  @Test
  void lpmNamesTheLongestCachedPrefixFirstHoweverManyWait() {
    SchedulerRig.cache(pages, letters(0, 320), "");
    Admission admission = admission(SchedulePolicy.LPM);
    List<Integer> shared = IntStream.range(0, 300).map(i -> i * 7 % 300).boxed().toList();
    for (int i = 0; i < shared.size(); i++) {
      int[] own = letters(1 + i % 20, 30);
      admission.add(request(i, concat(Arrays.copyOf(letters(0, 320), shared.get(i)), own)));
    }
    List<Long> order = order(admission);
    List<Integer> matched = order.stream().map(i -> shared.get(i.intValue()) / 16).toList();
    assertThat(matched).hasSize(300).isSortedAccordingTo((a, b) -> b - a);
  }

  @Test
  void lpmFollowsTheCacheWhileRequestsWait() {
    Admission admission = admission(SchedulePolicy.LPM);
    int[] first = letters(1, 64);
    int[] second = letters(2, 64);
    Request a = request(0, first);
    Request b = request(1, second);
    admission.add(a);
    admission.add(b);
    assertThat(nameOne(admission)).isSameAs(a);
    SchedulerRig.cache(pages, second, "");
    assertThat(nameOne(admission)).isSameAs(b);
    SchedulerRig.cache(pages, first, "");
    assertThat(nameOne(admission)).isSameAs(a);
    pages.cache().reset();
    assertThat(nameOne(admission)).isSameAs(a);
    SchedulerRig.cache(pages, second, "");
    assertThat(nameOne(admission)).isSameAs(b);
  }

  private static Request nameOne(Admission admission) {
    admission.beginRound();
    return admission.next();
  }

  @Test
  void dfsWeightFollowsThePrefixWhereMostWait() {
    int[] trunk = letters(0, 32);
    int[] left = concat(trunk, letters(1, 32));
    int[] right = concat(trunk, letters(2, 32));
    Stream.of(left, right).forEach(prompt -> SchedulerRig.cache(pages, prompt, ""));
    int[] own = letters(5, 20);
    assertThat(
            order(
                admission(SchedulePolicy.DFS_WEIGHT),
                request(0, own),
                request(1, concat(trunk, own)),
                request(2, concat(left, own)),
                request(3, concat(right, own)),
                request(4, concat(right, letters(6, 20)))))
        .containsExactly(3L, 4L, 2L, 1L, 0L);
  }

  @Test
  void theRandomOrderIsThatOfItsSeed() {
    SchedulerOptions random =
        SchedulerOptions.DEFAULT.withPolicy(SchedulePolicy.RANDOM).withAgeing(1 << 20);
    Request[] requests =
        IntStream.range(0, 50).mapToObj(i -> request(i, 10, 0)).toArray(Request[]::new);
    List<Long> once = order(admission(random.withSeed(7)), requests);
    assertThat(once).isNotEqualTo(once.stream().sorted().toList());
    assertThat(order(admission(random.withSeed(7)), again(50))).isEqualTo(once);
    assertThat(order(admission(random.withSeed(8)), again(50))).isNotEqualTo(once);
  }

  private static Request[] again(int count) {
    return IntStream.range(0, count).mapToObj(i -> request(i, 10, 0)).toArray(Request[]::new);
  }
}
