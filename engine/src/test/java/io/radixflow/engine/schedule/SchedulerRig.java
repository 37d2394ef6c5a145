package io.radixflow.engine.schedule;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.draft.DraftPolicy;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.CachedSessions;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.Step;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.List;

/**
 * A scheduler whose steps are completed by hand: no device, no threads. Every step it checks that
 * each page has one owner.
 */
public final class SchedulerRig {
  public final KvPages pages;
  public final Scheduler scheduler;
  final List<Request> admitted = new ArrayList<>();
  private final Step step = new Step();
  private long sequence;

  /** What a decode takes, a row of a prompt, and that for each position before it; or null. */
  private long[] rowNanos;

  private long stepNanos;

  public SchedulerRig(EngineOptions options) {
    this.pages = pages(options);
    this.scheduler =
        new Scheduler(
            options,
            pages,
            options.stepRows(),
            new Quarantine(
                CrashJournal.open(null, options.maxRunning(), () -> 0), 1, request -> {}),
            new DraftPolicy(SpeculationOptions.OFF));
  }

  static KvPages pages(EngineOptions options) {
    Backend backend = SimModel.open(SimOptions.DEFAULT).openBackend(DeviceOptions.DEFAULT);
    KvPool pool = backend.openPool(options.kvPages(), options.pageTokens());
    Tiers tiers = Tiers.open(options.tiers(), pool, "", Runnable::run);
    backend.close(); // no step runs, and a thread less is left
    return new KvPages(
        pool, options.maxRunning(), 0, options.cache(), new CachedSessions(), tiers, () -> 0);
  }

  /** A request that has its prompt; others that arrive later have a higher {@code sequence}. */
  static Request request(
      long sequence, int[] prompt, int maxTokens, String namespace, ServiceClass service) {
    return request(sequence, prompt, maxTokens, namespace, service, null);
  }

  /** A request of the default tenant. */
  static Request ofSession(long sequence, int[] prompt, int priority, String session) {
    ServiceClass service = new ServiceClass("", priority, session);
    SessionRef ref = new SessionRef("", session, "main");
    return request(sequence, prompt, 1, "", service, ref);
  }

  private static Request request(
      long sequence,
      int[] prompt,
      int maxTokens,
      String namespace,
      ServiceClass service,
      SessionRef session) {
    Request request =
        new Request(
            null,
            sequence,
            EngineRequest.builder("request " + sequence, () -> prompt, maxTokens)
                .namespace(namespace)
                .ignoreEndOfTurn(true)
                .service(service)
                .session(session)
                .build(),
            sequence,
            1 << 16,
            null);
    request.tokens.begin(prompt, 0, new int[0], maxTokens);
    return request;
  }

  /** Leaves a prompt's pages in the cache. */
  public static void cache(KvPages pages, int[] prompt, String namespace) {
    cache(pages, request(-1, prompt, 1, namespace, ServiceClass.DEFAULT));
  }

  /** Leaves a request's pages in the cache. */
  public static void cache(KvPages pages, Request request) {
    if (!pages.admit(request, pages.match(request), 0)) {
      throw new AssertionError("no pages");
    }
    request.steps.succeed(request.tokens.length());
    pages.commit(request);
    pages.release(request);
  }

  public Request submit(int[] prompt, int maxTokens, ServiceClass service) {
    Request request = request(sequence++, prompt, maxTokens, service.tenant(), service);
    scheduler.submitted();
    scheduler.enqueue(request);
    return request;
  }

  public Request submit(int[] prompt, int maxTokens) {
    return submit(prompt, maxTokens, ServiceClass.DEFAULT);
  }

  /** Runs one step to its end; returns the rows it had. */
  public int step() {
    List<Request> before = new ArrayList<>(scheduler.running());
    boolean planned = scheduler.plan(step, true);
    List<Request> started = new ArrayList<>(scheduler.running());
    started.removeAll(before);
    admitted.addAll(started);
    int rows = planned ? complete() : 0;
    if (pages.repair(scheduler.running()) > 0) {
      throw new AssertionError("a page has not exactly one owner");
    }
    return rows;
  }

  /**
   * Runs one step that takes a known time for each row, and for each position before a row of a
   * prompt; returns the nanoseconds it took.
   */
  long step(long decodeNanos, long prefillNanos, long positionNanos) {
    rowNanos = new long[] {decodeNanos, prefillNanos, positionNanos};
    stepNanos = 0;
    step();
    rowNanos = null;
    return stepNanos;
  }

  private int complete() {
    if (rowNanos != null) {
      stepNanos = step.decodeRows * rowNanos[0];
      if (step.prefillRows > 0) {
        double row = rowNanos[1] + rowNanos[2] * step.prefillPosition();
        stepNanos += Math.round(step.prefillRows * row);
      }
      scheduler.measured(step, stepNanos);
    }
    int rows = 0;
    for (int i = 0; i < step.size(); i++) {
      Request request = step.request(i);
      rows += step.end(i) - request.steps.computed();
      boolean prefill = request.steps.isPrefilling();
      request.steps.end();
      request.steps.succeed(step.end(i));
      if (prefill) {
        pages.commit(request);
      }
      if (step.output(i) >= 0) {
        request.steps.answer();
        request.tokens.append('a' + request.tokens.length() % 26);
      }
      if (request.tokens.length() == request.tokens.maxLength()) {
        end(request);
      }
    }
    step.clear();
    return rows;
  }

  private void end(Request request) {
    scheduler.remove(request);
    pages.commit(request);
    pages.release(request);
  }

  void runToTheEnd() {
    while (!scheduler.running().isEmpty() || !scheduler.waiting().isEmpty()) {
      if (step() == 0) {
        throw new AssertionError("no progress");
      }
    }
  }
}
