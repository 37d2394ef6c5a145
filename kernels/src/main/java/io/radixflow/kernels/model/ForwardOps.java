package io.radixflow.kernels.model;

/**
 * The operations that a backend provides for the forward pass of one step; the rows, their
 * positions and their page tables are the backend's, taken from the batch.
 *
 * <p>Every operation treats each row alone (attention reads the row's own prefix from the KV pool),
 * so that a row's result does not depend on the batch around it.
 *
 * @param <M> a weight matrix on the device
 * @param <V> a weight vector on the device
 */
public interface ForwardOps<M, V> {

  /** {@link Activation#HIDDEN} = the embedding of each row's input token. */
  void embed(M table);

  /** Target row = source row / rms(source row) · gain (Zhang and Sennrich 2019). */
  void rmsNorm(Activation source, V gain, Activation target);

  /** Target row = matrix · source row (+ the matrix's bias). */
  void matmul(M matrix, Activation source, Activation target);

  /**
   * Rotates queries and keys in {@link Activation#QKV} by each row's position and stores keys and
   * values in the KV pool, rounded to its element type.
   *
   * @param layer the decoder block
   * @param queryNorm RMS norm gain of each query head, or null
   * @param keyNorm RMS norm gain of each key head, or null
   */
  void ropeAndStore(int layer, V queryNorm, V keyNorm);

  /**
   * {@link Activation#ATTENDED} = causal attention of the queries over keys and values in the pool.
   */
  void attend(int layer);

  /** {@link Activation#GATED} = silu(gate) · up (Shazeer 2020). */
  void swiglu();

  /** {@link Activation#HIDDEN} += {@link Activation#DELTA}. */
  void addResidual();

  /** For each row that asked for an output: norm of {@link Activation#HIDDEN}, logits, sampling. */
  void outputs(V norm, M head);
}
