package io.radixflow.kernels.cpu.kernel;

/**
 * Attention over KV pages in native code; the code is in {@code src/main/c/attention.c}. Callers
 * check sizes. Stateless and safe for many threads; arrays are pinned while a method runs.
 *
 * <p>Pages are given by {@code arrays}, of {@code float[]}, {@code short[]} or {@code byte[]} as
 * {@code type} (0, 1, 2) says, and by {@code where}: for each page the number of its array and its
 * first element. At most 64 arrays and 2,048 pages.
 */
public final class NativeAttention {

  private final int isa;

  public NativeAttention(NativeKernels kernels) {
    isa = kernels.isaNumber();
  }

  /**
   * Computes scores: element (query, token) at {@code out[at + query * stride + token]}.
   *
   * @param width elements of a key
   * @param queryAt where each query begins
   */
  public void scores(
      Object[] arrays,
      int arrayCount,
      int[] where,
      int pages,
      int type,
      int width,
      float[] queries,
      int[] queryAt,
      int count,
      float scale,
      float[] out,
      int at,
      int stride) {
    scores(
        isa,
        arrays,
        arrayCount,
        where,
        pages,
        type,
        width,
        queries,
        queryAt,
        count,
        scale,
        out,
        at,
        stride);
  }

  private static native void scores(
      int isa,
      Object[] arrays,
      int arrayCount,
      int[] where,
      int pages,
      int type,
      int width,
      float[] queries,
      int[] queryAt,
      int count,
      float scale,
      float[] out,
      int at,
      int stride);

  /**
   * Adds weighted values to elements {@code first} to before {@code end} of the outputs.
   *
   * @param weights element (query, token) at {@code at + query * stride + token}
   * @param from the first token that each query sees
   * @param to the token after the last
   * @param token the number of the pages' first token
   * @param outAt where each query's output begins
   */
  public void addValues(
      Object[] arrays,
      int arrayCount,
      int[] where,
      int pages,
      int type,
      int width,
      float[] weights,
      int at,
      int stride,
      int count,
      int[] from,
      int[] to,
      int token,
      float[] out,
      int[] outAt,
      int first,
      int end) {
    addValues(
        isa,
        arrays,
        arrayCount,
        where,
        pages,
        type,
        width,
        weights,
        at,
        stride,
        count,
        from,
        to,
        token,
        out,
        outAt,
        first,
        end);
  }

  private static native void addValues(
      int isa,
      Object[] arrays,
      int arrayCount,
      int[] where,
      int pages,
      int type,
      int width,
      float[] weights,
      int at,
      int stride,
      int count,
      int[] from,
      int[] to,
      int token,
      float[] out,
      int[] outAt,
      int first,
      int end);

  /**
   * Adds weighted latent values: those of keys of {@code width} elements, the first {@code
   * elements} of them.
   *
   * @param sums query q's element d at {@code (q / 16 * elements + d) * 16 + q % 16}
   */
  public void addLatentValues(
      Object[] arrays,
      int arrayCount,
      int[] where,
      int pages,
      int type,
      int width,
      float[] weights,
      int at,
      int stride,
      int count,
      int[] to,
      int token,
      float[] sums,
      int elements,
      int first,
      int end) {
    addLatentValues(
        isa,
        arrays,
        arrayCount,
        where,
        pages,
        type,
        width,
        weights,
        at,
        stride,
        count,
        to,
        token,
        sums,
        elements,
        first,
        end);
  }

  private static native void addLatentValues(
      int isa,
      Object[] arrays,
      int arrayCount,
      int[] where,
      int pages,
      int type,
      int width,
      float[] weights,
      int at,
      int stride,
      int count,
      int[] to,
      int token,
      float[] sums,
      int elements,
      int first,
      int end);
}
