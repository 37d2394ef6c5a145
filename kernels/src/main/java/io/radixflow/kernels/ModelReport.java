package io.radixflow.kernels;

import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFile;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.hub.ResolvedModel;
import java.nio.file.Path;
import java.util.Map;

/**
 * What a model is and what of it fits in memory: the data of {@code radixflow model}.
 *
 * @param name the name it was asked for by
 * @param path its file or directory
 * @param source where it came from, for people
 * @param config its shape
 * @param parameters number of weights
 * @param bytesByType bytes of weights of each encoding, as stored
 * @param fingerprint identifies the weights
 * @param numericsEpoch identifies the bits of a KV page; null while no backend is open
 * @param kvType element type of the KV pool
 * @param kvBytesPerToken bytes of one token in the KV pool
 * @param memoryBytes memory that weights and pool share
 * @param kvTokens tokens that the KV pool can hold beside the weights; 0 if the weights do not fit
 */
public record ModelReport(
    String name,
    Path path,
    String source,
    ModelConfig config,
    long parameters,
    Map<TensorType, Long> bytesByType,
    String fingerprint,
    String numericsEpoch,
    KvSpec.Type kvType,
    long kvBytesPerToken,
    long memoryBytes,
    long kvTokens) {

  /** Share of memory left for everything that is neither weights nor KV pages: one in eight. */
  private static final int RESERVE = 8;

  public ModelReport {
    bytesByType = Map.copyOf(bytesByType);
  }

  /**
   * Reports on a model.
   *
   * @param found where it was found
   * @param file the same, opened
   * @param kvType element type of the KV pool
   * @param memoryBytes memory for weights and pool: the heap's limit for the CPU backend
   * @param numericsEpoch of the engine or backend; null if none is open
   */
  public static ModelReport of(
      ResolvedModel found,
      ModelFile file,
      KvSpec.Type kvType,
      long memoryBytes,
      String numericsEpoch) {
    ModelConfig config = file.config();
    Map<TensorType, Long> bytes = file.bytesByType();
    KvSpec.Group group =
        new KvSpec.Group(
            config.layers(), config.kvHeads(), config.headDim(), config.headDim(), kvType, 0);
    long perToken = group.bytesPerToken();
    long weights = bytes.values().stream().mapToLong(Long::longValue).sum();
    long room = memoryBytes - memoryBytes / RESERVE - weights;
    return new ModelReport(
        found.name(),
        found.path(),
        found.source().text(),
        config,
        file.parameters(),
        bytes,
        file.weights().fingerprint(),
        numericsEpoch,
        kvType,
        perToken,
        memoryBytes,
        Math.max(0, room / perToken));
  }

  /** Bytes of all weights, as stored. */
  public long weightBytes() {
    return bytesByType.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Conversations of the model's full context length whose KV pages fit at once. */
  public long fullContexts() {
    return kvTokens / config.contextLength();
  }
}
