package io.radixflow.engine.schedule;

import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.RequestStanding;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Admissions without steps: the request that is named runs, and ends or is preempted when a test
 * says so.
 */
final class AdmissionModel {
  private static final int MOST_RUNNING = 4;

  private final List<Request> running = new ArrayList<>();
  private final Admission admission;

  AdmissionModel(SchedulePolicy policy, int ageing, KvPages pages) {
    SchedulerOptions options = SchedulerOptions.DEFAULT.withPolicy(policy).withAgeing(ageing);
    admission = new Admission(options, policy, pages, running);
  }

  void add(Request request) {
    admission.add(request);
  }

  List<Request> waiting() {
    return admission.waiting();
  }

  /** Requests of the tenant of {@code request}, itself included, that have not ended. */
  int aliveOf(Request request) {
    List<Request> all = new ArrayList<>(running);
    all.addAll(admission.waiting());
    return (int)
        all.stream().filter(other -> other.standing.tenant() == request.standing.tenant()).count();
  }

  /** Preempts a request that may be preempted; returns it, or null. */
  Request preemptAny(Random random) {
    List<Request> candidates =
        running.stream()
            .filter(request -> request.standing.urgency() != RequestStanding.AGED)
            .toList();
    if (candidates.isEmpty()) {
      return null;
    }
    Request back = candidates.get(random.nextInt(candidates.size()));
    running.remove(back);
    back.standing.await();
    admission.preempted(back);
    return back;
  }

  /** Admits the next request, if there is one, and ends another if many run. */
  Request admit(Random random) {
    admission.beginRound();
    Request next = admission.next();
    if (next == null) {
      return null;
    }
    admission.admitted(next);
    next.standing.run();
    running.add(next);
    if (running.size() > MOST_RUNNING) {
      admission.ended(running.remove(random.nextInt(running.size())));
    }
    return next;
  }

  /** Admits the next ones. */
  List<Request> admit(int count) {
    Random random = new Random(count);
    List<Request> admitted = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      admitted.add(admit(random));
    }
    return admitted;
  }
}
