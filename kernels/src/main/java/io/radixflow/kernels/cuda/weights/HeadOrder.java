package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.Rope;

/**
 * The order of a head's elements on the device. Two elements that rotate together are always half a
 * head apart, so that one kernel can rotate the heads of all models. Products of queries with keys
 * do not depend on the order.
 *
 * @param headDim elements of a head
 * @param pairs number of pairs that rotate; their first elements are the first elements of the head
 * @param interleaved whether pair i is (2i, 2i+1) in the model's file; false for (i, i + pairs)
 */
public record HeadOrder(int headDim, int pairs, boolean interleaved) {

  /** Returns the order of a layer's heads; {@code rope} is null if the layer does not rotate. */
  public static HeadOrder of(Rope rope, int headDim) {
    return rope == null
        ? new HeadOrder(headDim, 0, false)
        : new HeadOrder(headDim, rope.width(headDim) / 2, rope.interleaved());
  }

  /** Returns whether the order on the device is the order in the file. */
  boolean isPlain() {
    return pairs == 0 || !interleaved && 2 * pairs == headDim;
  }

  /** Returns the index in the file of the element that is at {@code at} on the device. */
  int source(int at) {
    if (isPlain()) {
      return at;
    }
    int half = headDim / 2;
    int pair = at % half;
    if (pair < pairs) {
      int second = at / half;
      return interleaved ? 2 * pair + second : pair + second * pairs;
    }
    return 2 * pairs + (at < half ? 0 : half - pairs) + pair - pairs;
  }
}
