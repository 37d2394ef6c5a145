package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceAllocator;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.weights.HeadOrder;
import io.radixflow.kernels.cuda.weights.StagingBlocks;
import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QueryGrowth;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Rope;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Tables that rotate and scale queries and keys by their position. The device has one table per
 * kind of rotary embedding in the model, and one table per kind of query growth. The tables are
 * freed with the context.
 */
public final class RotationTables {

  /**
   * The key of a table. For each position the table contains the cosines of a head's pairs, and
   * then the sines.
   */
  private record Turn(Rope rope, int headDim) {}

  private final ModelConfig config;
  private final Map<Turn, DeviceMemory> turns = new LinkedHashMap<>();
  private final Map<QueryGrowth, DeviceMemory> growths = new LinkedHashMap<>();

  RotationTables(DeviceAllocator device, ModelConfig config) {
    this.config = config;
    for (int layer = 0; layer < config.layers(); layer++) {
      Turn turn = turn(layer);
      if (turn.rope() != null && !turns.containsKey(turn)) {
        turns.put(turn, device.allocate(bytes(turn.headDim()), "a table of rotations"));
      }
      QueryGrowth growth = growth(layer);
      if (growth != null && !growths.containsKey(growth)) {
        growths.put(growth, device.allocate(bytes(1), "a table of factors"));
      }
    }
  }

  private long bytes(int elements) {
    return (long) config.contextLength() * elements * Float.BYTES;
  }

  private Turn turn(int layer) {
    Attention attention = config.layer(layer).attention();
    int width = attention instanceof Latent latent ? latent.rotatedDim() : attention.keyWidth();
    return new Turn(attention.rope(), width);
  }

  private QueryGrowth growth(int layer) {
    return config.layer(layer).attention() instanceof Grouped grouped
        ? grouped.scores().growth()
        : null;
  }

  /** Returns a layer's cosines and sines by position; null if the layer does not rotate. */
  public DeviceMemory turns(int layer) {
    return turns.get(turn(layer));
  }

  /** Returns the factors of a layer's queries by position; null if it has none. */
  DeviceMemory factors(int layer) {
    QueryGrowth growth = growth(layer);
    return growth == null ? null : growths.get(growth);
  }

  /** Returns all tables of cosines and sines. */
  public Collection<DeviceMemory> all() {
    return turns.values();
  }

  /** Computes the tables. Their values are the same as in the CPU backend. */
  void fill(StagingBlocks staging) {
    turns.forEach(
        (turn, memory) -> {
          int half = turn.headDim() / 2;
          double[] frequencies = turn.rope().frequencies(turn.headDim());
          int pairs = HeadOrder.of(turn.rope(), turn.headDim()).pairs();
          send(
              memory,
              turn.headDim(),
              staging,
              (position, values) -> {
                for (int pair = 0; pair < half; pair++) {
                  double angle = pair < pairs ? position * frequencies[pair] : 0;
                  values[pair] = pair < pairs ? turn.rope().cosine(angle) : 1;
                  values[half + pair] = pair < pairs ? turn.rope().sine(angle) : 0;
                }
              });
        });
    growths.forEach(
        (growth, memory) ->
            send(memory, 1, staging, (position, values) -> values[0] = growth.at(position)));
  }

  /** Computes the values of one position. */
  @FunctionalInterface
  private interface Values {
    void at(int position, float[] values);
  }

  private void send(DeviceMemory memory, int elements, StagingBlocks staging, Values values) {
    int positionBytes = elements * Float.BYTES;
    int perBlock = staging.capacity() / positionBytes;
    float[] one = new float[elements];
    for (int first = 0; first < config.contextLength(); first += perBlock) {
      int count = Math.min(perBlock, config.contextLength() - first);
      ByteBuffer block = staging.to(memory).next().order(ByteOrder.nativeOrder());
      for (int i = 0; i < count; i++) {
        values.at(first + i, one);
        for (int element = 0; element < elements; element++) {
          block.putFloat(i * positionBytes + element * Float.BYTES, one[element]);
        }
      }
      staging.send((long) first * positionBytes, block.limit(count * positionBytes));
    }
  }
}
