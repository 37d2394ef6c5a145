package io.radixflow.operators.flink.tiers;

import io.radixflow.engine.EngineStats;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TierSwitches;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.remote.RemoteStore;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.engine.tier.store.TransferThreads;
import io.radixflow.operators.flink.engine.EngineTiers;
import io.radixflow.operators.flink.engine.TierSettings;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.protocol.record.control.TierCommand;
import io.radixflow.protocol.record.control.TierCommand.Action;
import io.radixflow.protocol.record.control.TierCommand.Tier;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.flink.metrics.MetricGroup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tiers below an engine's device. Control events change the tiers while the engine runs.
 *
 * <p>Commands come from all subtasks. Each command is carried out once, in order, on a separate
 * thread, and is logged and counted as done or refused. A refused command changes nothing.
 */
public final class SwitchableTiers implements EngineTiers {
  private static final Logger LOG = LoggerFactory.getLogger(SwitchableTiers.class);
  private static final long PATIENCE_MILLIS = 20_000;

  private final TierOptions options;
  private final LowerStores stores;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(TransferThreads.named("radixflow-tier-commands"));
  private final Set<Runnable> attachListeners = ConcurrentHashMap.newKeySet();
  private TierSettings settings;
  private ContinuousBatchingEngine engine;
  private TierSwitches switches;

  /** The attached disk; null for none. */
  private volatile PageStore disk;

  private CompletableFuture<Void> storeClosed = CompletableFuture.completedFuture(null);
  private volatile long applied;
  private volatile long refused;

  /**
   * @param options the tiers as they are configured
   * @param stores opens disk and remote store; this object closes it
   * @param settings the settings of the tiers after earlier control events
   */
  SwitchableTiers(TierOptions options, LowerStores stores, TierSettings settings) {
    this.options = options;
    this.stores = stores;
    this.settings = settings;
  }

  /**
   * Returns the tiers with which the engine must be opened, from the configuration and the events.
   */
  TierOptions options() {
    if (!options.enabled()) {
      return options;
    }
    TierOptions sized =
        settings.hostBytes() == TierCommand.CONFIGURED
            ? options
            : options.withHostBytes(settings.hostBytes());
    return sized.withStore(this::openWithEngine, stores.tenants());
  }

  /** Opens the stores. If the disk does not open, the engine runs without the disk's pages. */
  private PageStore openWithEngine(String numericsEpoch, PageSizes sizes) {
    stores.setPages(numericsEpoch, sizes);
    // opened first, so that the disk is not open yet if this fails
    RemoteStore remote = stores.openRemote();
    if (diskBytes(TierCommand.CONFIGURED) > 0 && !settings.diskDetached()) {
      try {
        disk = stores.openDisk(diskBytes(TierCommand.CONFIGURED));
      } catch (RefusedException e) {
        LOG.warn("The disk tier is not used: {}", e.getMessage());
      } catch (RuntimeException e) { // an invalid option
        if (remote != null) {
          remote.close();
        }
        throw e;
      }
    }
    return stores.stack(disk, remote);
  }

  /** Accepts commands from now on; the engine must be open. */
  void start(ContinuousBatchingEngine opened) {
    if (!options.enabled()) {
      return;
    }
    engine = opened;
    switches = opened.switches();
    if (settings.hostDetached()) {
      thread.execute(() -> run(new TierCommand(Action.DETACH, Tier.HOST, TierCommand.CONFIGURED)));
    }
  }

  @Override
  public String diskId() {
    return stores.diskId();
  }

  @Override
  public String attachedDiskId() {
    return disk == null ? null : stores.diskId();
  }

  @Override
  public String remoteFolder() {
    return stores.remote().uri();
  }

  @Override
  public boolean enabled() {
    return options.enabled();
  }

  @Override
  public TenantKeys keys() {
    return stores.keys();
  }

  @Override
  public long tenantTag(String tenant) {
    return stores.tenants() == null ? 0 : stores.tenants().tenantTag(tenant);
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
    return options.enabled() && (stores.diskId() != null || diskBytes(TierCommand.CONFIGURED) > 0);
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
    TierMetrics.register(group, () -> stats.get().tiers(), this::applied, this::refused);
  }

  @Override
  public String refusal(TierCommand command) {
    if (!options.enabled()) {
      return EngineTiers.super.refusal(command);
    }
    if (command.tier() == Tier.HOST) {
      return command.bytes() > 0 && command.bytes() < stores.pageBytes()
          ? "host memory of %d bytes holds no page of %d"
              .formatted(command.bytes(), stores.pageBytes())
          : null;
    }
    long bytes = command.bytes() > 0 ? command.bytes() : stores.disk().limitBytes();
    if (command.action() == Action.RESIZE || command.bytes() > 0) {
      long least = DiskTierOptions.leastBytes(stores.pageBytes());
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
    boolean detached = switches.call(switches::isHostHeld);
    switch (command.action()) {
      case ATTACH -> {
        require(detached, "host memory is attached");
        return resized(switches.resizeHost(hostBytes(), false));
      }
      case DETACH -> {
        require(!detached, "host memory is detached");
        require(
            disk == null,
            "pages pass through host memory on their way to disk; detach the disk first");
        require(
            !stores.remote().enabled(),
            "pages pass through host memory on their way to the remote tier");
        switches.resizeHost(0, true);
        return "no pages are kept in host memory";
      }
      case RESIZE -> {
        return detached
            ? "host memory will have that size when it is attached"
            : resized(switches.resizeHost(hostBytes(), false));
      }
      default -> {
        switches.poll(() -> switches.flush() ? true : null);
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
        require(disk != null, "the disk is detached");
        disk = null;
        detachAll();
        if (stores.remote().enabled()) {
          attach(null);
        }
        return "it is used no more, and its pages stay where they are";
      }
      case RESIZE -> {
        long bytes = diskBytes(command.bytes());
        if (disk == null) {
          return "the disk will have %d bytes when it is attached".formatted(bytes);
        }
        disk.resize(bytes);
        switches.await(engine.onTiers(Tiers::refreshStats));
        return "the disk has %d bytes".formatted(bytes);
      }
      default -> {
        require(disk != null, "the disk is detached; attach it to have it emptied");
        switches.call(switches::flushStore);
        return "the disk is being emptied";
      }
    }
  }

  private String attachDisk() throws RefusedException, TimeoutException, InterruptedException {
    require(disk == null, "the disk is attached");
    require(
        !switches.call(switches::isHostHeld),
        "pages pass through host memory on their way to disk; attach host memory first");
    long bytes = diskBytes(TierCommand.CONFIGURED);
    require(bytes > 0, "the job has no size for the disk; give one, such as 20gb");
    detachAll();
    PageStore opened = null;
    try {
      opened = stores.openDisk(bytes);
    } finally {
      if (opened == null && stores.remote().enabled()) {
        attach(null);
      }
    }
    attach(opened);
    disk = opened;
    attachListeners.forEach(Runnable::run);
    return "the disk has %d pages".formatted(opened.stats().pages());
  }

  /** Detaches the disk and the remote store if they exist, and waits until they are closed. */
  private void detachAll() throws TimeoutException, InterruptedException {
    CompletableFuture<Void> closing = switches.call(switches::detachStore);
    if (closing != null) {
      storeClosed = closing;
    }
    switches.await(storeClosed);
  }

  /**
   * Attaches a disk with the remote store below it; either may be missing.
   *
   * @param opened the disk; closed if attaching fails; null for no disk
   */
  private void attach(PageStore opened)
      throws RefusedException, TimeoutException, InterruptedException {
    PageStore both = withRemote(opened);
    boolean attached = false;
    try {
      attached = switches.call(() -> switches.attachStore(both));
    } finally {
      if (!attached) {
        both.close();
      }
    }
    require(attached, "the engine has a store already");
  }

  /**
   * Returns the disk with the remote store below it; closes the disk if the remote store does not
   * open.
   */
  private PageStore withRemote(PageStore opened) {
    try {
      return stores.stack(opened, stores.openRemote());
    } catch (RuntimeException e) {
      if (opened != null) {
        opened.close();
      }
      throw e;
    }
  }

  /**
   * Returns the size that the disk must have.
   *
   * @param given the size in the current event
   */
  private long diskBytes(long given) {
    if (given != TierCommand.CONFIGURED) {
      return given;
    }
    long bytes = settings().diskBytes();
    return bytes == TierCommand.CONFIGURED ? stores.disk().limitBytes() : bytes;
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
    stores.close();
  }
}
