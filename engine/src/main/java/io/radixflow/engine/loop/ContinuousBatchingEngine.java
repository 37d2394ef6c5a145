package io.radixflow.engine.loop;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineInfo;
import io.radixflow.engine.EngineLostException;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.session.CacheSlot;
import io.radixflow.engine.draft.DraftPolicy;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.pages.Calibration;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.CachedSessions;
import io.radixflow.engine.request.Channels;
import io.radixflow.engine.request.EngineChannel;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.schedule.CrashJournal;
import io.radixflow.engine.schedule.Quarantine;
import io.radixflow.engine.schedule.Scheduler;
import io.radixflow.engine.tier.TierSwitches;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.Sha256;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine: continuous batching with chunked prefill over a paged KV pool and a radix cache.
 *
 * <p>Life of a request: {@link #submit} registers it and passes it to an intake thread, which makes
 * its prompt; the engine thread ({@link EngineLoop}) admits it, runs its steps and writes tokens to
 * its ring; the consumer drains them. The engine owns its backend and closes it.
 */
public final class ContinuousBatchingEngine implements Engine {
  private static final Logger LOG = LoggerFactory.getLogger(ContinuousBatchingEngine.class);
  private static final long CLOSE_SECONDS = 10;

  private final EngineOptions options;
  private final EngineInfo info;
  private final Backend backend;
  private final KvPages pages;
  private final Replies replies;
  private final RequestDrafts requestDrafts;
  private final Scheduler scheduler;
  private final EngineLoop loop;
  private final Intake intake;
  private final CrashJournal journal;
  private final Quarantine quarantine;
  private final Announcements announcements;
  private final PageTasks pageTasks;
  private final Grammars grammars;
  private final CachedSessions sessions = new CachedSessions();

  private final AtomicLong sequence = new AtomicLong();
  private final Channels channels = new Channels();
  private final boolean sharesPages;

  private ContinuousBatchingEngine(
      Backend backend, Tokenizer tokenizer, EngineOptions options, CrashJournal journal) {
    this.options = options;
    this.backend = backend;
    this.journal = journal;
    this.sharesPages = options.cache().caching() == PrefixCaching.RADIX;
    long memory = PoolSizing.memory(backend, MemorySource.system());
    PoolSizing sizing = PoolSizing.of(backend, options, memory);
    KvPool pool = backend.openPool(sizing.pages(), sizing.parts(), sizing.pageTokens());
    info =
        new EngineInfo(
            backend.model(),
            backend.description(),
            sizing.contextLength(),
            sizing.pages(),
            sizing.pageTokens(),
            Sha256.digits(backend.numericsEpoch() + "/" + tokenizer.fingerprint()));
    pages =
        new KvPages(
            pool,
            options.maxRunning(),
            backend.partedWindow(),
            options.cache(),
            sessions,
            Tiers.open(options.tiers(), pool, info.numericsEpoch(), this::onEngineThread),
            () -> System.nanoTime() / 1_000_000);
    quarantine = new Quarantine(journal, options.attempts(), this::toIntake);
    DraftPolicy drafts = new DraftPolicy(options.speculation());
    requestDrafts = new RequestDrafts(drafts, info.model().vocabSize(), sizing.contextLength());
    scheduler = new Scheduler(options, pages, backend.maxBatchRows(), quarantine, drafts);
    IdlePrefill idle =
        new IdlePrefill(pages, sessions, sizing.contextLength(), options.cache().prefillWhenIdle());
    TurnTrimmer nextTurns =
        new TurnTrimmer(pages, idle, this::onIntakeThread, this::onEngineThread);
    grammars =
        new Grammars(
            tokenizer,
            info.model().vocabSize(),
            options.scheduler().tenantWeights(),
            this::onEngineThread);
    replies = new Replies(pages, scheduler, sessions, nextTurns::ended, grammars, quarantine);
    StepPipeline pipeline =
        new StepPipeline(backend, options.attempts(), journal, pages, scheduler, replies, idle);
    loop =
        new EngineLoop(
            pages, scheduler, replies, pipeline, channels, journal, options.auditMillis());
    intake =
        new Intake(
            tokenizer,
            info,
            options,
            grammars,
            journal,
            this::named,
            request -> loop.execute(() -> adopt(request)));
    announcements = new Announcements(pages, sessions, idle, intake, this::onEngineThread);
    pageTasks = new PageTasks(pages, announcements, this::onIntakeThread, this::onEngineThread);
  }

  private void start(KvEventSink.Factory events) {
    if (events != null) {
      pages.publish(events.open(info, () -> loop.execute(pages::flushEvents)));
    }
    Calibration.run(backend, pages, info.contextLength());
    loop.start();
    grammars.warmUp();
    KvPool pool = pages.pool();
    long bytes = pool.pages() * pool.pageBytes() + pool.parts() * pool.partBytes();
    LOG.info(
        "Engine on {}: KV pool of {} MB, {} pages of {} tokens{}; {}",
        info.backend(),
        bytes >> 20,
        info.pages(),
        info.pageTokens(),
        pool.parts() == 0
            ? ""
            : ", " + pool.parts() + " window parts of " + backend.partedWindow() + " tokens",
        options.kvPages() > 0 || options.kvBytes() > 0
            ? "its size is configured"
            : "engine.kv-memory sets another size");
  }

  /**
   * Loads a model onto a device and starts an engine on it; takes seconds.
   *
   * @throws IllegalArgumentException if the device is not available or the KV pool does not fit;
   *     the message has the numbers
   */
  public static ContinuousBatchingEngine open(
      ServedModel model, DeviceOptions device, EngineOptions options) {
    return open(model, device, options, null, null);
  }

  /**
   * Opens an engine like {@link #open(ServedModel, DeviceOptions, EngineOptions)}. It can also
   * publish the changes of its cache, and record the requests in flight.
   *
   * @param events creates the sink of the cache's changes; null to publish none
   * @param crashJournal the file that records the requests in flight. After the process has died,
   *     the next process reads it to find a request that ends processes. The directory is created
   *     if necessary. Null for no journal
   */
  public static ContinuousBatchingEngine open(
      ServedModel model,
      DeviceOptions device,
      EngineOptions options,
      KvEventSink.Factory events,
      Path crashJournal) {
    return open(
        model.openBackend(device, PoolSizing.request(options), ModelProgress.NONE),
        model.tokenizer(),
        options,
        events,
        crashJournal);
  }

  /** Starts an engine on a backend. The engine owns the backend and closes it, even on failure. */
  public static ContinuousBatchingEngine open(
      Backend backend, Tokenizer tokenizer, EngineOptions options) {
    return open(backend, tokenizer, options, null, null);
  }

  private static ContinuousBatchingEngine open(
      Backend backend,
      Tokenizer tokenizer,
      EngineOptions options,
      KvEventSink.Factory events,
      Path crashJournal) {
    ContinuousBatchingEngine engine = construct(backend, tokenizer, options, crashJournal);
    try {
      engine.start(events);
      return engine;
    } catch (RuntimeException | Error e) {
      engine.close();
      throw e;
    }
  }

  private static ContinuousBatchingEngine construct(
      Backend backend, Tokenizer tokenizer, EngineOptions options, Path crashJournal) {
    CrashJournal journal = null;
    try {
      journal =
          CrashJournal.open(
              crashJournal,
              options.maxRunning() + options.intakeThreads(),
              System::currentTimeMillis);
      return new ContinuousBatchingEngine(backend, tokenizer, options, journal);
    } catch (RuntimeException | Error e) {
      if (journal != null) {
        journal.close();
      }
      backend.close();
      throw e;
    }
  }

  /** Names the pages of a request with a valid prompt, and creates its drafter; intake thread. */
  private void named(Request request) {
    pages.prepare(request);
    requestDrafts.open(request);
  }

  private void toIntake(Request request) {
    intake.submit(request);
  }

  private void onIntakeThread(String tenant, Runnable task) {
    intake.execute(tenant, task);
  }

  private void onEngineThread(Runnable task) {
    loop.execute(task);
  }

  @Override
  public EngineInfo info() {
    return info;
  }

  @Override
  public Map<String, Integer> tenantWeights() {
    return options.scheduler().tenantWeights();
  }

  @Override
  public ReplyChannel openChannel(ChannelId id, Runnable onReady) {
    EngineChannel channel = new EngineChannel(id, onReady, this::cancelAll, () -> loop.wake());
    channels.add(channel);
    if (loop.lost() != null) {
      channel.fail(loop.lost());
    }
    return channel;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException if a request with this id has not ended: a defect of the
   *     caller
   */
  @Override
  public void submit(ReplyChannel target, long requestId, EngineRequest spec) {
    EngineChannel channel = (EngineChannel) target;
    announcements.overtaken(spec.session());
    Request request =
        new Request(
            channel,
            requestId,
            spec,
            sequence.getAndIncrement(),
            options.ringTokens(),
            sessions.join(sharesPages ? spec.session() : null));
    if (channel.requests().putIfAbsent(requestId, request) != null) {
      sessions.leave(request.slot);
      throw new IllegalArgumentException("request " + requestId + " is live already");
    }
    if (channel.isClosed() || channels.haveEnded()) {
      channel.requests().remove(requestId);
      sessions.leave(request.slot);
      return;
    }
    quarantine.screen(request);
    int before = scheduler.submitted();
    if (request.refusal() != null) {
      loop.execute(() -> adopt(request));
    } else if (before >= options.maxWaiting() && !resumes(spec)) {
      request.refuse(
          FinishReason.REJECTED,
          new ReplyError(
              ErrorCode.BUSY,
              before + " requests are waiting already, the limit is " + options.maxWaiting()));
      loop.execute(() -> adopt(request));
    } else if (request.standing.isSuspect()) {
      loop.execute(() -> quarantine.hold(request));
    } else {
      intake.submit(request);
    }
  }

  /**
   * Returns whether part of the reply is published; then the request is accepted however many
   * requests wait.
   */
  private static boolean resumes(EngineRequest spec) {
    return spec.resumed() != null && spec.resumed().length > 0;
  }

  @Override
  public void cancel(ReplyChannel target, long requestId, FinishReason reason) {
    Request request = ((EngineChannel) target).requests().get(requestId);
    if (request != null && request.cancel(reason)) {
      loop.execute(() -> replies.end(request, reason, null));
    }
  }

  @Override
  public boolean prefetch(EngineRequest turn) {
    return !sharesPages
        || channels.haveEnded()
        || announcements.submit(turn, sequence.getAndIncrement());
  }

  @Override
  public void withdraw(SessionRef turn) {
    if (sharesPages && !channels.haveEnded()) {
      CacheSlot slot = sessions.join(turn);
      announcements.withdraw(turn);
      loop.execute(
          () -> {
            pages.unpin(slot);
            sessions.leave(slot);
          });
    }
  }

  @Override
  public void closeSession(String session) {
    CacheSlot slot = sessions.remove(session);
    if (slot != null) {
      slot.close();
      loop.execute(
          () -> {
            announcements.closed(slot);
            pages.close(slot);
          });
    }
  }

  @Override
  public CompletableFuture<Boolean> erase(Supplier<byte[]> names) {
    return pageTasks.erase(names);
  }

  @Override
  public boolean keepsPages() {
    return sharesPages;
  }

  @Override
  public CompletableFuture<TierTokens> locate(
      String tenant, String namespace, EngineRequest.PromptSource text) {
    return pageTasks.locate(tenant, namespace, text);
  }

  @Override
  public CompletableFuture<Boolean> eraseTenant(String tenant) {
    eraseTexts();
    return pageTasks.eraseTenant(tenant);
  }

  @Override
  public CompletableFuture<Boolean> eraseAll() {
    eraseTexts();
    return pageTasks.eraseAll();
  }

  @Override
  public void eraseTexts() {
    grammars.erase();
    loop.execute(scheduler.drafts()::erase);
  }

  private void cancelAll(EngineChannel channel) {
    channels.remove(channel);
    loop.execute(
        () -> {
          replies.cancelAll(channel);
          channel.requests().clear();
        });
  }

  @Override
  public EngineLostException lost() {
    return loop.lost();
  }

  /** Takes over a request from intake; engine thread. */
  private void adopt(Request request) {
    if (request.standing.hasEnded()) {
      return;
    }
    if (request.cancelled() != null || request.channel.isClosed()) {
      FinishReason reason = request.cancelled();
      replies.end(request, reason == null ? FinishReason.CANCELLED : reason, null);
    } else if (request.refusal() != null) {
      replies.end(request, request.refusalReason(), request.refusal());
    } else if (request.reply.resumedEnd() != null) {
      replies.end(request, request.reply.resumedEnd(), null);
    } else {
      scheduler.enqueue(request);
      replies.publish(request);
    }
  }

  @Override
  public EngineStats stats() {
    return loop.stats();
  }

  /**
   * Returns the content of the radix cache, parents before children. Only for checks, because it
   * walks the whole cache on the engine thread. Needs an engine with a sink of events; never
   * completes after the engine was closed.
   */
  public CompletableFuture<List<KvEvent.Stored>> cacheContent() {
    return pageTasks.content();
  }

  /**
   * Runs a task with the tiers below the device on the engine thread; the task must not block.
   *
   * @return completes with the result or the task's exception; never completes after the engine was
   *     closed
   */
  public <T> CompletableFuture<T> onTiers(Function<Tiers, T> task) {
    return pageTasks.onTiers(task);
  }

  /** Returns the switches of the tiers; any thread. */
  public TierSwitches switches() {
    return pages.tiers().switches();
  }

  @Override
  public void close() {
    if (!channels.end()) {
      return;
    }
    intake.close();
    grammars.close();
    loop.close();
    try {
      if (!intake.awaitTermination(CLOSE_SECONDS)) {
        LOG.warn("An intake thread is still making a prompt");
      }
      if (!grammars.awaitTermination(CLOSE_SECONDS)) {
        LOG.warn("A thread is still at work on a grammar");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try (backend;
        journal) {
      pages.close();
    } catch (RuntimeException e) { // the device may be lost; another engine is opened then
      LOG.error("An engine did not close as it should", e);
    }
  }
}
