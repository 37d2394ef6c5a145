package io.radixflow.engine.schedule;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.Tenant;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * What holds for every stream of requests: no request starves, shares are kept, tenants are apart.
 */
class SchedulerProperties {
  private static final int PAGE = 16;

  /** A waiting request, and the admissions of its tenant that may still come before it. */
  private static final class Wait {
    final Request request;
    int left;

    Wait(Request request, int left) {
      this.request = request;
      this.left = left;
    }
  }

  /**
   * With {@code n} older requests of its tenant that have not ended, a request is admitted within
   * {@code ageing * (n + 1)} admissions of its tenant; each time that an older one is preempted
   * counts as one more.
   */
  @Property(tries = 300)
  void everyRequestIsAdmittedWithinTheBound(
      @ForAll long seed,
      @ForAll SchedulePolicy policy,
      @ForAll @IntRange(min = 2, max = 9) int ageing) {
    Random random = new Random(seed);
    AdmissionModel model = new AdmissionModel(policy, ageing, pages(200));
    List<Wait> waits = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      int choice = random.nextInt(10);
      if (choice < 5) {
        Request request = anyRequest(i, random);
        model.add(request);
        waits.add(new Wait(request, ageing * model.aliveOf(request)));
      } else if (choice == 5) {
        Request back = model.preemptAny(random);
        for (Wait wait : waits) {
          wait.left += back != null && isBefore(back, wait.request) ? ageing : 0;
        }
      } else {
        Request next = model.admit(random);
        waits.removeIf(wait -> wait.request == next);
        for (Wait wait : waits) {
          wait.left -=
              next != null && next.standing.tenant() == wait.request.standing.tenant() ? 1 : 0;
          assertThat(wait.left).isPositive();
        }
      }
    }
  }

  private static boolean isBefore(Request older, Request request) {
    return older.standing.tenant() == request.standing.tenant()
        && older.sequence < request.sequence;
  }

  /**
   * A tenant that has had more than others waits until they have had as much, and no stream of new
   * tenants makes it wait for longer: while it waits, at most {@code weight * (2 * lead + cost)}
   * tokens are served, with {@code lead} its service beyond the virtual time, {@code weight} the
   * most that waits at once, {@code cost} the most of one request.
   */
  @Property(tries = 300)
  void aStreamOfNewTenantsDoesNotStarveOneThatWaits(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 500) int lead,
      @ForAll @IntRange(min = 1, max = 20) int backlog,
      @ForAll @IntRange(min = 1, max = 50) int cost) {
    Random random = new Random(seed);
    FairQueue tenants = new FairQueue(Map.of());
    long sequence = 0;
    for (int i = 0; i < backlog; i++) {
      tenants.add(ofTenant(tenants, "new " + i, sequence++, 1 + random.nextInt(cost)));
    }
    Tenant patient = tenants.of("patient");
    tenants.charge(patient, lead);
    tenants.add(ofTenant(tenants, "patient", sequence++, cost));
    double ahead = (double) (patient.service - tenants.virtualTime()) / Tenant.TOKEN;
    double most = (backlog + 1) * (2 * Math.max(0, ahead) + cost);
    int served = 0;
    for (Tenant next = least(tenants); next != patient; next = least(tenants)) {
      Request request = next.waiting.get(0);
      served += request.tokens.length();
      assertThat((double) served).isLessThanOrEqualTo(most);
      tenants.admitted(request, false);
      tenants.add(ofTenant(tenants, "new " + sequence, sequence++, 1 + random.nextInt(cost)));
    }
  }

  private static Tenant least(FairQueue tenants) {
    return tenants.backlogged().stream().min(Tenant::compareTo).orElseThrow();
  }

  private static Request ofTenant(FairQueue tenants, String name, long sequence, int length) {
    Request request =
        SchedulerRig.request(sequence, letters(1, length), 1, "", new ServiceClass(name, 0, ""));
    request.standing.join(tenants.of(name), 0);
    return request;
  }

  private static Request anyRequest(int sequence, Random random) {
    ServiceClass service =
        new ServiceClass(
            "tenant " + random.nextInt(random.nextBoolean() ? 2 : 1000),
            random.nextInt(201) - 100,
            "key " + random.nextInt(3));
    int[] prompt = letters(random.nextInt(4), 1 + random.nextInt(100));
    return SchedulerRig.request(sequence, prompt, 1 + random.nextInt(1000), "", service);
  }

  /**
   * FairQueue that always wait get tokens by weight: they differ by no more than what the running
   * requests may generate, however unequal prompts, replies and numbers of requests are.
   */
  @Property(tries = 40)
  void tenantsThatCompeteAreServedByWeight(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 4) int weight,
      @ForAll @IntRange(min = 1, max = 8) int maxRunning) {
    Random random = new Random(seed);
    EngineOptions options =
        EngineOptions.builder()
            .pageTokens(PAGE)
            .kvPages(600)
            .maxRunning(maxRunning)
            .scheduler(SchedulerOptions.DEFAULT.withWeights(Map.of("heavy", weight)))
            .build();
    SchedulerRig rig = new SchedulerRig(options);
    Map<String, Integer> flood =
        Map.of("heavy", maxRunning + 1, "light", maxRunning + 1 + random.nextInt(40));
    List<Request> all = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      for (String tenant : flood.keySet()) {
        long waiting =
            rig.scheduler.waiting().stream()
                .filter(request -> request.spec.service().tenant().equals(tenant))
                .count();
        for (long more = waiting; more < flood.get(tenant); more++) {
          int prompt = 1 + random.nextInt(tenant.equals("heavy") ? 200 : 40);
          int reply = 1 + random.nextInt(tenant.equals("heavy") ? 20 : 100);
          int[] ids = letters(random.nextInt(20), prompt);
          all.add(rig.submit(ids, reply, new ServiceClass(tenant, 0, "")));
        }
      }
      rig.step();
      Map<String, Double> served = served(all, weight);
      double most = (maxRunning + 1) * 220.0;
      assertThat(Math.abs(served.get("heavy") - served.get("light"))).isLessThan(most);
    }
  }

  /** Prompt tokens of those admitted and tokens generated, over the weight. */
  private static Map<String, Double> served(List<Request> all, int weight) {
    Map<String, Double> served = new HashMap<>(Map.of("heavy", 0.0, "light", 0.0));
    for (Request request : all) {
      String tenant = request.spec.service().tenant();
      if (request.standing.wasAdmitted()) {
        double share = tenant.equals("heavy") ? weight : 1;
        served.merge(tenant, request.tokens.length() / share, Double::sum);
      }
    }
    return served;
  }

  /** A tenant with one request waits for no more than its turn, whatever another has queued. */
  @Property(tries = 50)
  void aFloodDoesNotDelayAnotherTenant(@ForAll long seed, @ForAll SchedulePolicy policy) {
    Random random = new Random(seed);
    AdmissionModel model = new AdmissionModel(policy, 16, pages(200));
    for (int i = 0; i < 500; i++) {
      ServiceClass flood = new ServiceClass("flood", random.nextInt(201) - 100, "");
      model.add(SchedulerRig.request(i, letters(1, 1 + random.nextInt(20)), 10, "f", flood));
    }
    model.admit(random.nextInt(300));
    Request single =
        SchedulerRig.request(500, letters(2, 50), 10, "s", new ServiceClass("single", 0, ""));
    model.add(single);
    assertThat(model.admit(2)).contains(single);
  }

  /**
   * The order of a tenant's requests, and when its turns are, does not reveal what others cached.
   */
  @Property(tries = 100)
  void theOrderDoesNotDependOnAnotherTenantsPages(
      @ForAll long seed, @ForAll SchedulePolicy policy) {
    List<String> without = order(seed, policy, false);
    assertThat(without).contains("other");
    assertThat(order(seed, policy, true)).isEqualTo(without);
  }

  /** Returns the order of all requests, but of another tenant's only that it is its turn. */
  private static List<String> order(long seed, SchedulePolicy policy, boolean othersCached) {
    Random random = new Random(seed);
    KvPages pages = pages(1_000);
    AdmissionModel model = new AdmissionModel(policy, 4, pages);
    for (int family = 0; family < 4; family++) {
      SchedulerRig.cache(pages, letters(family, random.nextInt(200)), "own");
      int others = random.nextInt(200);
      if (othersCached) {
        SchedulerRig.cache(pages, letters(family, others), "other");
      }
    }
    for (int i = 0; i < 60; i++) {
      String tenant = i == 0 || random.nextInt(3) == 0 ? "other" : "own";
      ServiceClass service = new ServiceClass(tenant, 10 * random.nextInt(2), "");
      int[] prompt = letters(random.nextInt(4), 100);
      model.add(SchedulerRig.request(i, prompt, 1 + random.nextInt(100), tenant, service));
    }
    List<String> order = new ArrayList<>();
    for (Request request : model.admit(60)) {
      String tenant = request.spec.service().tenant();
      order.add(tenant.equals("own") ? tenant + " " + request.sequence : tenant);
    }
    return order;
  }

  /** A look-up that goes on from an older one finds what one from the root finds. */
  @Property(tries = 25)
  void aRememberedMatchIsThatOfAFreshLookUp(@ForAll long seed) {
    Random random = new Random(seed);
    KvPages pages = pages(60);
    List<Request> waiting = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      Request request = anyRequestOf(i, random);
      switch (random.nextInt(3)) {
        case 0 -> waiting.add(request);
        case 1 -> SchedulerRig.cache(pages, request);
        default -> pages.cache().evict(random.nextInt(20));
      }
      for (Request each : waiting) {
        Request fresh =
            requestOf(i, each.spec.namespace(), each.tokens.prompt(), each.tokens.publicTokens());
        assertThat(pages.match(each)).isEqualTo(pages.match(fresh));
      }
    }
  }

  private static Request anyRequestOf(int sequence, Random random) {
    int[] front = letters(random.nextInt(3), 1 + random.nextInt(150));
    int[] prompt = concat(front, letters(random.nextInt(3), 1 + random.nextInt(150)));
    return requestOf(sequence, random.nextBoolean() ? "own" : "", prompt, random.nextInt(100));
  }

  private static Request requestOf(int sequence, String namespace, int[] prompt, int publicTokens) {
    Request request = SchedulerRig.request(sequence, prompt, 5, namespace, ServiceClass.DEFAULT);
    request.tokens.begin(prompt, publicTokens, new int[0], 5);
    return request;
  }

  private static KvPages pages(int pages) {
    return SchedulerRig.pages(EngineOptions.builder().kvPages(pages).pageTokens(PAGE).build());
  }
}
