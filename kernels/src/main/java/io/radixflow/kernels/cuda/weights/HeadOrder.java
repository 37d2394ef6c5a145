package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.Rope;

/**
 * The order of a head's elements on the device: elements that rotate together lie half a head
 * apart, whatever the model's convention and however much of a head rotates. Products of queries
 * with keys do not depend on the order, and one kernel rotates all of them.
 *
 * @param headDim elements of a head
 * @param pairs pairs that rotate; the first of each are the head's first elements
 * @param interleaved whether pair i is (2i, 2i+1) in the model's file; false for (i, i + pairs)
 */
public record HeadOrder(int headDim, int pairs, boolean interleaved) {

  /** The order of a layer's heads; {@code rope} is null where nothing rotates. */
  public static HeadOrder of(Rope rope, int headDim) {
    return rope == null
        ? new HeadOrder(headDim, 0, false)
        : new HeadOrder(headDim, rope.width(headDim) / 2, rope.interleaved());
  }

  /** Returns whether the order is the file's. */
  boolean isPlain() {
    return pairs == 0 || !interleaved && 2 * pairs == headDim;
  }

  /** The element of the file that is element {@code at} of a head on the device. */
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
