package io.radixflow.kernels.device;

import io.radixflow.models.Attention;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The layout of one token in the KV pool: a list of groups of layers that share a layout.
 *
 * <p>A group has a number of layers, heads, K and V widths, an element type and an attention
 * window. This describes latent attention (no V), sliding windows, FP8 and shards without changes
 * to the engine.
 *
 * @param groups the groups, in the order of their first layers
 */
public record KvSpec(List<Group> groups) {

  /** Element type of the KV entries. */
  public enum Type {
    /** IEEE 754 binary32. */
    F32(4),
    /** IEEE 754 binary16, rounded to nearest even on store. */
    F16(2),
    /** The upper half of binary32, rounded to nearest even on store. */
    BF16(2),
    /**
     * Codes of E4M3 (OCP 8-bit floating point). Each vector, which is the key or value of one head
     * and token, has a power of two as its scale (E8M0 of OCP microscaling).
     */
    FP8(1),
    /** Token ids and hashes of the simulated backend. */
    SIM(8);

    private final int bytes;

    Type(int bytes) {
      this.bytes = bytes;
    }

    /** Bytes per element. */
    public int bytes() {
      return bytes;
    }

    /**
     * Bytes of a vector of {@code width} elements. Vectors of 8-bit floats are padded to 16
     * elements and have a scale.
     */
    public int vectorBytes(int width) {
      return this == FP8 && width > 0 ? (width + 15) / 16 * 16 + 1 : width * bytes;
    }
  }

  /**
   * Layers with one layout.
   *
   * @param layers number of layers
   * @param kvHeads key/value heads per layer
   * @param keyWidth elements of K per head and token
   * @param valueWidth elements of V per head and token; 0 if V is derived from K
   * @param type element type
   * @param window tokens that a query sees; 0 for all
   */
  public record Group(
      int layers, int kvHeads, int keyWidth, int valueWidth, Type type, int window) {

    /** Bytes of one token in this group. */
    public long bytesPerToken() {
      return (long) layers * kvHeads * (type.vectorBytes(keyWidth) + type.vectorBytes(valueWidth));
    }

    private Group times(int count) {
      return new Group(layers * count, kvHeads, keyWidth, valueWidth, type, window);
    }

    /** The kind of attention, in words. */
    public String kind() {
      if (window > 0) {
        return "window of " + window;
      }
      return valueWidth == 0 && type != Type.SIM ? "latent" : "full";
    }
  }

  public KvSpec {
    groups = List.copyOf(groups);
  }

  /**
   * The layout of a model's tokens: one group per kind of layer, in the order of each group's first
   * layer.
   */
  public static KvSpec of(ModelConfig config, Type type) {
    Map<Group, Integer> layers = new LinkedHashMap<>();
    for (Layer layer : config.blocks()) {
      Attention a = layer.attention();
      Group kind = new Group(1, a.kvHeads(), a.keyWidth(), a.valueWidth(), type, a.window());
      layers.merge(kind, 1, Integer::sum);
    }
    List<Group> groups = new ArrayList<>();
    layers.forEach((kind, count) -> groups.add(kind.times(count)));
    return new KvSpec(groups);
  }

  /** Bytes of one token over all layers. */
  public long bytesPerToken() {
    return groups.stream().mapToLong(Group::bytesPerToken).sum();
  }

  /** The most tokens that a query sees in layers with an attention window; 0 without any. */
  public int window() {
    return groups.stream().mapToInt(Group::window).max().orElse(0);
  }

  /** Bytes of one token over the layers that have an attention window. */
  public long windowBytesPerToken() {
    return groups.stream()
        .filter(group -> group.window() > 0)
        .mapToLong(Group::bytesPerToken)
        .sum();
  }
}
