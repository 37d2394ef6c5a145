package io.radixflow.models;

import java.util.List;

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

  /** {@link StepBuffer#HIDDEN} = the embedding of each row's input token, scaled. */
  void embed(M table);

  /** Target row = source row, normalised as the model says, · gain. Both may be one buffer. */
  void norm(StepBuffer source, V gain, StepBuffer target);

  /** Target row = matrix · source row (+ the matrix's bias). */
  void matmul(M matrix, StepBuffer source, StepBuffer target);

  /**
   * Normalises (if the layer says so), rotates and scales queries and keys in {@link
   * StepBuffer#QKV} by each row's position, and stores keys and values in the KV pool, rounded to
   * its element type.
   *
   * @param layer the decoder block
   * @param queryNorm gain of the queries, or null
   * @param keyNorm gain of the keys, or null
   */
  void ropeAndStore(int layer, V queryNorm, V keyNorm);

  /**
   * Normalises the compressed part of {@link StepBuffer#LATENT} and rotates the rest, stores both
   * in the KV pool, and rotates the queries in {@link StepBuffer#QKV}.
   */
  void ropeAndStoreLatent(int layer, V latentNorm);

  /**
   * {@link StepBuffer#LATENT_QUERY} = each head's matrix · the plain part of its query, and its
   * rotated part.
   *
   * @param keys a matrix a head, from the plain part of a query to the compressed keys
   */
  void compressQueries(int layer, List<M> keys);

  /**
   * Causal attention over the pool: from {@link StepBuffer#QKV} to {@link StepBuffer#ATTENDED}, or
   * from {@link StepBuffer#LATENT_QUERY} to {@link StepBuffer#LATENT_ATTENDED}.
   *
   * @param sinks a logit a head, or null
   */
  void attend(int layer, V sinks);

  /**
   * {@link StepBuffer#ATTENDED} = each head's matrix · its part of {@link
   * StepBuffer#LATENT_ATTENDED}.
   */
  void expandValues(int layer, List<M> values);

  /** {@link StepBuffer#GATED} = {@link StepBuffer#GATE_UP}, gated as the shape says. */
  void gate(FeedForward.Dense shape);

  /**
   * Chooses experts by the logits in {@link StepBuffer#ROUTER}: {@link StepBuffer#DELTA} = the
   * weighted sum of their outputs, added in the order of choice.
   */
  void experts(int layer, ExpertWeights<M, V> weights, StepBuffer source);

  /**
   * {@link StepBuffer#DELTA} += {@link StepBuffer#SHARED}, weighed by the sigmoid of {@link
   * StepBuffer#SHARED_GATE} where it is gated.
   */
  void addShared(boolean gated);

  /** {@link StepBuffer#HIDDEN} += {@link StepBuffer#DELTA}, scaled. */
  void addResidual();

  /** For each row that asked for an output: norm of {@link StepBuffer#HIDDEN}, logits, sampling. */
  void outputs(V norm, M head);

  /**
   * The experts of a layer.
   *
   * @param gateUp gate and up projection of each, stacked
   * @param down down projection of each
   * @param correction added to the scores for the choice, or null
   */
  record ExpertWeights<M, V>(List<M> gateUp, List<M> down, V correction) {}
}
