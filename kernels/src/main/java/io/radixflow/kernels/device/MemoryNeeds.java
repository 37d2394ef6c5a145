package io.radixflow.kernels.device;

import io.radixflow.models.TensorType;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The memory that a model needs on a device, in bytes, known before it is loaded.
 *
 * @param model the model's name, for messages
 * @param weights sizes of the weights by their type in the file
 * @param outsideBytes bytes of weights and work space that are outside Java's heap
 * @param workBytes estimated size of the activations, logits and tables of the largest step
 */
public record MemoryNeeds(
    String model, Map<TensorType, Sizes> weights, long outsideBytes, long workBytes) {

  /** Memory that a JVM needs in addition to weights, work space and pool. */
  private static final long RESERVE = 64L << 20;

  /** Average bits per weight in memory of a Q4_0 file whose output matrix is Q6_K. */
  private static final int SMALL_BITS = 5;

  /**
   * The weights of one type.
   *
   * @param elements number of weights
   * @param fileBytes bytes in the file
   * @param bytes bytes in memory
   */
  public record Sizes(long elements, long fileBytes, long bytes) {

    Sizes plus(Sizes other) {
      return new Sizes(elements + other.elements, fileBytes + other.fileBytes, bytes + other.bytes);
    }
  }

  public MemoryNeeds {
    weights = Map.copyOf(weights);
  }

  /** Adds up sizes of weights. */
  public static final class Sum {
    private final Map<TensorType, Sizes> sizes = new EnumMap<>(TensorType.class);

    /** Adds weights of one type. */
    public void add(TensorType type, long elements, long bytes) {
      long fileBytes = elements / type.blockElements() * type.fileBlockBytes();
      sizes.merge(type, new Sizes(elements, fileBytes, bytes), Sizes::plus);
    }

    /** Returns the sizes so far. */
    public Map<TensorType, Sizes> sizes() {
      return sizes;
    }
  }

  /** Bytes of all weights in memory. */
  public long weightBytes() {
    return weights.values().stream().mapToLong(Sizes::bytes).sum();
  }

  /** Bytes of all weights in the file. */
  public long fileBytes() {
    return weights.values().stream().mapToLong(Sizes::fileBytes).sum();
  }

  /** Bytes of the heap that remain after the model is loaded. */
  public long leaves(MemoryStatus memory) {
    return memory.left() - (weightBytes() + workBytes - outsideBytes) - RESERVE;
  }

  /** Bytes outside the heap that remain even if the heap takes all it may. */
  public long leavesOutside(MemoryStatus memory) {
    return memory.leftOutside() - outsideBytes;
  }

  /**
   * Returns the size of each type of weights, the largest first: {@code Q4_K 3000 MB, F32 1 MB}.
   */
  public String types() {
    return weights.entrySet().stream()
        .sorted((a, b) -> Long.compare(b.getValue().bytes(), a.getValue().bytes()))
        .map(type -> type.getKey() + " " + megabytes(type.getValue().bytes()))
        .collect(Collectors.joining(", "));
  }

  /**
   * Checks that a model fits, before it is loaded.
   *
   * @param poolBytes bytes of the KV pool and of everything else in the same memory; 0 if the pool
   *     takes the remaining memory
   * @param outside whether the pool is outside the heap
   * @throws IllegalArgumentException if memory is too small; the message gives the numbers and
   *     advice
   */
  public void require(MemorySource source, long poolBytes, boolean outside) {
    // The heap may contain garbage, such as the weights of a model that was closed.
    if (lacking(source.now(), poolBytes, outside) > 0
        && lacking(source.afterCollection(), poolBytes, outside) > 0) {
      throw new IllegalArgumentException(problem(source.now(), poolBytes, outside));
    }
  }

  /** Bytes that are lacking; 0 or less if everything fits. */
  private long lacking(MemoryStatus memory, long poolBytes, boolean outside) {
    long inHeap = (outside ? 0 : poolBytes) - leaves(memory);
    long beside = (outside ? poolBytes : 0) - leavesOutside(memory);
    return outside || outsideBytes > 0 ? Math.max(inHeap, beside) : inHeap;
  }

  private String problem(MemoryStatus memory, long poolBytes, boolean outside) {
    return String.format(
        Locale.ROOT,
        "the model %s does not fit in memory: its weights need %s (%s), work space %s%s, the KV pool"
            + " %s%s, the JVM %s: %s together; %s. %s",
        model,
        megabytes(weightBytes()),
        types(),
        megabytes(workBytes),
        outsideBytes == 0 ? "" : ", of which " + megabytes(outsideBytes) + " outside the heap",
        megabytes(poolBytes),
        outside ? " outside the heap" : "",
        megabytes(RESERVE),
        megabytes(weightBytes() + workBytes + poolBytes + RESERVE),
        memory.text(),
        advice(memory, poolBytes, outside));
  }

  private String advice(MemoryStatus memory, long poolBytes, boolean outside) {
    long lacking = lacking(memory, poolBytes, outside);
    boolean heapFits = outside && leaves(memory) >= 0;
    if (heapFits && leaves(memory) >= lacking) {
      return "A smaller heap leaves enough: at most -Xmx"
          + (memory.heap() - lacking >> 20)
          + "m (RADIXFLOW_JAVA_OPTS, or taskmanager.memory.task.heap.size in Flink)";
    }
    long room = outside ? heapFits ? leavesOutside(memory) : 0 : leaves(memory);
    if (room > poolBytes / 16 && poolBytes > 0) {
      return "A smaller KV pool fits: at most engine.kv-memory "
          + (room >> 20)
          + "mb (engine.kv-pages and tiers.host-memory count too)";
    }
    if (!heapFits && memory.available() - memory.heapLeft() > lacking) {
      return "A larger heap would be enough: at least -Xmx"
          + ((memory.heap() + lacking >> 20) + 1)
          + "m (RADIXFLOW_JAVA_OPTS, or taskmanager.memory.task.heap.size in Flink)";
    }
    return smaller().orElse("Use a machine with more memory, or a smaller model");
  }

  /** Advises a smaller quantisation, unless the weights are that small already. */
  Optional<String> smaller() {
    long elements = weights.values().stream().mapToLong(Sizes::elements).sum();
    long smaller = elements * SMALL_BITS / 8;
    return smaller >= weightBytes() * 0.9
        ? Optional.empty()
        : Optional.of(
            "Use a smaller quantisation: in Q4_0 its weights would take about "
                + megabytes(smaller));
  }

  static String megabytes(long bytes) {
    return (bytes + (1 << 20) - 1 >> 20) + " MB";
  }
}
