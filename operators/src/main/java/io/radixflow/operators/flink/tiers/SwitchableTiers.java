package io.radixflow.operators.flink.tiers;

import io.radixflow.operators.NamespaceKey;
import io.radixflow.operators.engine.EngineStats;
import io.radixflow.operators.flink.engine.EngineTiers;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import java.util.function.Supplier;
import io.radixflow.operators.engine.loop.ContinuousBatchingEngine;
import io.radixflow.operators.flink.engine.EngineDirectory;
import io.radixflow.operators.flink.engine.TierSettings;
import io.radixflow.operators.record.TierCommand.Action;
import io.radixflow.operators.record.TierCommand.Tier;
import io.radixflow.operators.record.TierCommand;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.tier.TierCalls;
import io.radixflow.operators.tier.TierOptions;
import io.radixflow.operators.tier.Tiers;
import io.radixflow.operators.tier.disk.DiskDirectory;
import io.radixflow.operators.tier.disk.DiskStore;
import io.radixflow.operators.tier.disk.DiskTierOptions;
import io.radixflow.operators.tier.remote.RemoteStore;
import io.radixflow.operators.tier.remote.RemoteTierOptions;
import io.radixflow.operators.tier.remote.StoreStack;
import io.radixflow.operators.tier.store.PageStore;
import io.radixflow.operators.tier.store.TenantKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tiers below an engine's device, and what control events make of them while it runs.
 *
 * <p>Commands come from all subtasks and are done once, in order, on a thread of their own; what
 * became of each is logged and counted. One that is refused changes nothing here.
 */
public final class SwitchableTiers implements EngineTiers {
  private static final Logger LOG = LoggerFactory.getLogger(SwitchableTiers.class);
  private static final long PATIENCE_MILLIS = 20_000;

  private final DiskTierOptions disk;
  private final RemoteTierOptions remote;
  private final TierOptions options;
  private final EngineDirectory directory;
  private final String kind;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread made = new Thread(task, "radixflow-tier-commands");
            made.setDaemon(true);
            return made;
          });

  private final Set<Runnable> attachListeners = ConcurrentHashMap.newKeySet();
  private final TenantKeys keys = new TenantKeys();
  private TierSettings settings;
  private TierCalls calls;
  private String epoch;
  private volatile int pageBytes;
  private volatile DiskDirectory local;
  private volatile PageStore store;
  private CompletableFuture<Void> storeClosed = CompletableFuture.completedFuture(null);
  private volatile long applied;
  private volatile long refused;

  /**
   * @param disk the disk tier as it is configured
   * @param remote the remote tier, which is there as long as the engine is
   * @param options the tiers as they are configured
   * @param directory what the engine finds of itself, and what events have made of the tiers before
   * @param kind tells which engines can use each other's pages
   */
  public SwitchableTiers(
      DiskTierOptions disk, RemoteTierOptions remote, TierOptions options, EngineDirectory directory, String kind) {
    this.disk = disk;
    this.remote = remote;
    this.options = options;
    this.directory = directory;
    this.kind = kind;
    this.settings = directory.settings();
  }

  /** The tiers with which the engine is opened, as configuration and events say. */
  TierOptions options() {
    if (!options.enabled()) {
      return options;
    }
    TierOptions sized =
        settings.hostBytes() == TierCommand.CONFIGURED
            ? options
            : options.withHostBytes(settings.hostBytes());
    return sized.withStore(
        this::openWithEngine, tenants());
  }

  /** Trouble with the disk costs its pages, never the engine. */
  private PageStore openWithEngine(String numericsEpoch, int bytes) {
    epoch = numericsEpoch;
    pageBytes = bytes;
    // may be refused: first, so that the disk is not open then
    RemoteStore below = openRemote();
    if (diskBytes(TierCommand.CONFIGURED) > 0 && !settings.diskDetached()) {
      try {
        store = openDisk(diskBytes(TierCommand.CONFIGURED));
      } catch (RefusedException e) {
        LOG.warn("The disk tier is not used: {}", e.getMessage());
      } catch (RuntimeException e) { // a setting that cannot be right
        if (below != null) {
          below.close();
        }
        throw e;
      }
    }
    return StoreStack.of(store, below, pageBytes, remote.uploadMillis());
  }

  /** The engine is open. */
  void start(ContinuousBatchingEngine engine) {
    calls = new TierCalls(engine::onTiers, PATIENCE_MILLIS);
    if (options.enabled() && settings.hostDetached()) {
      thread.execute(() -> run(new TierCommand(Action.DETACH, Tier.HOST, TierCommand.CONFIGURED)));
    }
  }

  @Override
  public String diskId() {
    DiskDirectory claimed = local;
    return claimed == null ? null : claimed.engine();
  }

  @Override
  public String attachedDiskId() {
    return store == null ? null : diskId();
  }

  @Override
  public String remoteFolder() {
    return remote.uri();
  }

  @Override
  public boolean enabled() {
    return options.enabled();
  }

  @Override
  public TenantKeys keys() {
    return keys;
  }

  @Override
  public long tenantTag(String tenant) {
    return tenants() == null ? 0 : tenants().tenantTag(tenant);
  }

  private NamespaceKey tenants() {
    return disk.tenants() == null ? remote.tenants() : disk.tenants();
  }

  @Override
  public void onDiskAttached(Runnable task) {
    attachListeners.add(task);
  }

  @Override
  public void removeListener(Runnable task) {
    attachListeners.remove(task);
  }

  @Override
  public boolean hasDisk() {
    return options.enabled() && (local != null || diskBytes(TierCommand.CONFIGURED) > 0);
  }

  @Override
  public synchronized TierSettings settings() {
    return settings;
  }

  /** Returns the number of commands that were done. */
  public long applied() {
    return applied;
  }

  /** Returns the number of commands that were refused or failed. */
  public long refused() {
    return refused;
  }

  @Override
  public void register(MetricGroup group, Supplier<EngineStats> stats) {
    TierMetrics.register(group, () -> stats.get().tiers());
    group.gauge("tierCommandsApplied", (Gauge<Long>) this::applied);
    group.gauge("tierCommandsRefused", (Gauge<Long>) this::refused);
  }

  @Override
  public String refusal(TierCommand command) {
    if (!options.enabled()) {
      return EngineTiers.super.refusal(command);
    }
    if (command.tier() == Tier.HOST) {
      return command.bytes() > 0 && command.bytes() < pageBytes
          ? "host memory of %d bytes holds no page of %d".formatted(command.bytes(), pageBytes)
          : null;
    }
    long bytes = command.bytes() > 0 ? command.bytes() : disk.limitBytes();
    if (command.action() == Action.RESIZE || command.bytes() > 0) {
      long least = DiskTierOptions.leastBytes(pageBytes);
      return bytes >= least
          ? null
          : "the disk must have at least %d bytes; give it a size such as 20gb".formatted(least);
    }
    return null;
  }

  @Override
  public synchronized void apply(TierSettings after, TierCommand command) {
    if (after.number() > settings.number() && !thread.isShutdown()) {
      settings = after;
      thread.execute(() -> run(command));
    }
  }

  private void run(TierCommand command) {
    try {
      String reason = refusal(command);
      if (reason != null) {
        throw new RefusedException(reason);
      }
      String result = command.tier() == Tier.HOST ? host(command) : disk(command);
      applied++;
      LOG.info("Control event '{}' is done: {}", command, result);
    } catch (RefusedException | IllegalArgumentException | TimeoutException e) {
      refused++;
      LOG.warn("Control event '{}' is refused: {}", command, e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      refused++;
      LOG.warn("Control event '{}' failed", command, e);
    }
  }

  private String host(TierCommand command)
      throws RefusedException, TimeoutException, InterruptedException {
    boolean detached = calls.call(each -> each.switches().isHostHeld());
    switch (command.action()) {
      case ATTACH -> {
        require(detached, "host memory is attached");
        return resized(calls.resizeHost(hostBytes(), false));
      }
      case DETACH -> {
        require(!detached, "host memory is detached");
        require(
            store == null,
            "pages pass through host memory on their way to disk; detach the disk first");
        require(
            !remote.enabled(), "pages pass through host memory on their way to the remote tier");
        calls.resizeHost(0, true);
        return "no pages are kept in host memory";
      }
      case RESIZE -> {
        return detached
            ? "host memory will have that size when it is attached"
            : resized(calls.resizeHost(hostBytes(), false));
      }
      default -> {
        calls.poll(each -> each.switches().flush() ? true : null);
        return "host memory is empty";
      }
    }
  }

  private long hostBytes() {
    long bytes = settings().hostBytes();
    return bytes == TierCommand.CONFIGURED ? options.hostBytes() : bytes;
  }

  private String resized(int kept) {
    return "host memory has %d bytes, with %d pages in it".formatted(hostBytes(), kept);
  }

  private String disk(TierCommand command)
      throws RefusedException, TimeoutException, InterruptedException {
    switch (command.action()) {
      case ATTACH -> {
        return attachDisk();
      }
      case DETACH -> {
        require(store != null, "the disk is detached");
        store = null;
        detachAll();
        if (remote.enabled()) {
          attach(null);
        }
        return "it is used no more, and its pages stay where they are";
      }
      case RESIZE -> {
        long bytes = diskBytes(command.bytes());
        if (store == null) {
          return "the disk will have %d bytes when it is attached".formatted(bytes);
        }
        store.resize(bytes);
        calls.call(Tiers::refreshStats);
        return "the disk has %d bytes".formatted(bytes);
      }
      default -> {
        require(store != null, "the disk is detached; attach it to have it emptied");
        calls.call(each -> each.switches().flushStore());
        return "the disk is being emptied";
      }
    }
  }

  private String attachDisk() throws RefusedException, TimeoutException, InterruptedException {
    require(store == null, "the disk is attached");
    require(
        !calls.call(each -> each.switches().isHostHeld()),
        "pages pass through host memory on their way to disk; attach host memory first");
    long bytes = diskBytes(TierCommand.CONFIGURED);
    require(bytes > 0, "the job has no size for the disk; give one, such as 20gb");
    detachAll();
    PageStore opened = null;
    try {
      opened = openDisk(bytes);
    } finally {
      if (opened == null && remote.enabled()) {
        attach(null);
      }
    }
    attach(opened);
    store = opened;
    attachListeners.forEach(Runnable::run);
    return "the disk has %d pages".formatted(opened.stats().pages());
  }

  /** Lets go of disk and remote store, of either that is there, and waits until they are closed. */
  private void detachAll() throws TimeoutException, InterruptedException {
    CompletableFuture<Void> closing = calls.call(each -> each.switches().detachStore());
    if (closing != null) {
      storeClosed = closing;
    }
    calls.await(storeClosed);
  }

  /**
   * Attaches a disk with the remote store below it, of either that is there.
   *
   * @param opened closed again if that fails; null for no disk
   */
  private void attach(PageStore opened)
      throws RefusedException, TimeoutException, InterruptedException {
    PageStore both = withRemote(opened);
    boolean attached = false;
    try {
      attached = calls.call(each -> each.switches().attachStore(both));
    } finally {
      if (!attached) {
        both.close();
      }
    }
    require(attached, "the engine has a store already");
  }

  /** A store with the remote one below it; closed again if that cannot be opened. */
  private PageStore withRemote(PageStore opened) {
    try {
      return StoreStack.of(
          opened, openRemote(), pageBytes, remote.uploadMillis());
    } catch (RuntimeException e) {
      if (opened != null) {
        opened.close();
      }
      throw e;
    }
  }

  /**
   * @param given by an event that is being done
   */
  private long diskBytes(long given) {
    if (given != TierCommand.CONFIGURED) {
      return given;
    }
    long bytes = settings().diskBytes();
    return bytes == TierCommand.CONFIGURED ? disk.limitBytes() : bytes;
  }

  /**
   * Opens the remote store; null if there is none.
   *
   * @throws IllegalArgumentException if nothing serves its scheme
   */
  private RemoteStore openRemote() {
    return remote.enabled()
        ? RemoteStore.open(remote, epoch, pageBytes, FlinkRemoteFiles.open(remote.uri()), keys)
        : null;
  }

  private PageStore openDisk(long bytes) throws RefusedException {
    try {
      if (local == null) {
        local = claim();
      }
      return DiskStore.open(
          local.pages(), disk.withLimitBytes(bytes), epoch, pageBytes, keys);
    } catch (IOException | UncheckedIOException e) {
      throw new RefusedException("it cannot be opened: " + e);
    }
  }

  private DiskDirectory claim() throws IOException {
    Path root = disk.directory() == null ? directory.tiers() : Path.of(disk.directory());
    if (root == null) {
      throw new IOException(
          "the TaskManager has no working directory; start the job with tiers.disk-directory");
    }
    Duration retention = Duration.ofMillis(disk.retentionMillis());
    return DiskDirectory.claim(root, kind, directory.restored(), retention);
  }

  private static void require(boolean holds, String otherwise) throws RefusedException {
    if (!holds) {
      throw new RefusedException(otherwise);
    }
  }

  @Override
  public void stop() {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        LOG.warn("A control event for the tiers is still being done");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    stop();
    if (local != null) {
      local.close();
    }
  }
}
