package io.radixflow.operators.flink.tiers;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.engine.EngineDirectory;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;

/**
 * Opens an engine that serves a model with continuous batching.
 *
 * @param source finds and opens the model, on the TaskManager
 * @param model the name by which {@code source} finds the model
 * @param device where the model runs
 * @param options the engine's sizes and bounds
 * @param events opens the destination for changes of the engine's cache; null for none
 * @param disk the disk tier below host memory; needs host memory if enabled
 * @param remote the remote tier below the disk, or below host memory if there is no disk
 */
@PublicApi
public record ModelEngineFactory(
    Source source,
    String model,
    DeviceOptions device,
    EngineOptions options,
    KvEventSink.Factory events,
    DiskTierOptions disk,
    RemoteTierOptions remote)
    implements EngineFactory {

  /** Finds and opens a model; travels in the job graph. */
  @FunctionalInterface
  public interface Source extends Serializable {
    /**
     * @throws Exception if the model is not available; the message is for users
     */
    ServedModel open(String model) throws Exception;
  }

  /** Creates a factory of engines that have no disk or remote tier and publish no events. */
  public ModelEngineFactory(
      Source source, String model, DeviceOptions device, EngineOptions options) {
    this(source, model, device, options, null, DiskTierOptions.NONE, RemoteTierOptions.NONE);
  }

  /** Returns this factory for engines with a disk below host memory. */
  public ModelEngineFactory onDisk(DiskTierOptions tier) {
    return new ModelEngineFactory(source, model, device, options, events, tier, remote);
  }

  /** Returns this factory for engines with a remote file system below disk or host memory. */
  public ModelEngineFactory onRemote(RemoteTierOptions tier) {
    return new ModelEngineFactory(source, model, device, options, events, disk, tier);
  }

  @Override
  public EngineFactory publishing(KvEventSink.Factory sink) {
    return new ModelEngineFactory(source, model, device, options, sink, disk, remote);
  }

  @Override
  public boolean needsGpu() {
    return device.name().kind() == DeviceName.Kind.CUDA;
  }

  @Override
  public EngineFactory onGpu(int index) {
    DeviceName named = device.name();
    boolean may = named.kind() == DeviceName.Kind.AUTO && !ModelLoader.isSimulated(model);
    return named.index() < 0 && (may || needsGpu())
        ? new ModelEngineFactory(
            source, model, device.on("cuda:" + index), options, events, disk, remote)
        : this;
  }

  @Override
  public String identity() {
    return model + "\n" + device + "\n" + options + "\n" + disk + "\n" + remote;
  }

  @Override
  public ServingEngine open(EngineDirectory directory) throws Exception {
    if ((disk.enabled() || remote.enabled()) && !options.tiers().enabled()) {
      throw new IllegalArgumentException(
          "pages pass through host memory on their way to lower tiers: give the tiers some");
    }
    ServedModel served = source.open(model);
    SwitchableTiers tiers =
        new SwitchableTiers(
            options.tiers(),
            new LowerStores(disk, remote, directory, kind()),
            directory.settings());
    try {
      ContinuousBatchingEngine engine =
          ContinuousBatchingEngine.open(
              served,
              device,
              options.toBuilder().tiers(tiers.options()).build(),
              events,
              directory.crashJournal());
      tiers.start(engine);
      return new ServingEngine(engine, served, tiers);
    } catch (RuntimeException | Error e) {
      try (served) {
        tiers.close();
      }
      throw e;
    }
  }

  /** Names the engines that may take over each other's disks; the stores also check each page. */
  private String kind() {
    return StableHash.hex(model, device.toString(), Integer.toString(options.pageTokens()));
  }
}
