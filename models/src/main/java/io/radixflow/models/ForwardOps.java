package io.radixflow.models;

import java.util.List;

/**
 * The operations that a backend provides for the forward pass of one step. The backend has the
 * rows, their positions and their page tables from the batch.
 *
 * <p>Every operation processes each row independently (attention reads the row's own prefix from
 * the KV pool), so a row's result does not depend on the rest of the batch.
 *
 * @param <M> a weight matrix on the device
 * @param <V> a weight vector on the device
 */
public interface ForwardOps<M, V> {

  /** {@link StepBuffer#HIDDEN} = the embedding of each row's input token, scaled. */
  void embed(M table);

  /**
   * Target row = gain · source row, normalised as the model requires. Source and target may be the
   * same buffer.
   */
  void norm(StepBuffer source, V gain, StepBuffer target);

  /** Target row = matrix · source row (+ the matrix's bias, if any). */
  void matmul(M matrix, StepBuffer source, StepBuffer target);

  /**
   * Normalises queries and keys in {@link StepBuffer#QKV} if the layer does so, and rotates and
   * scales them by each row's position. Then stores keys and values in the KV pool, rounded to its
   * element type.
   *
   * @param layer index of the decoder block
   * @param queryNorm gain of the queries, or null
   * @param keyNorm gain of the keys, or null
   */
  void ropeAndStore(int layer, V queryNorm, V keyNorm);

  /**
   * Normalises the compressed part of {@link StepBuffer#LATENT}, rotates the rest, and stores both
   * in the KV pool. Also rotates the queries in {@link StepBuffer#QKV}.
   */
  void ropeAndStoreLatent(int layer, V latentNorm);

  /**
   * Sets {@link StepBuffer#LATENT_QUERY}: for each head, its matrix · the unrotated part of its
   * query, and then the rotated part.
   *
   * @param keys one matrix per head, which projects the unrotated part of a query into the space of
   *     the compressed keys
   */
  void compressQueries(int layer, List<M> keys);

  /**
   * Causal attention over the pool: from {@link StepBuffer#QKV} to {@link StepBuffer#ATTENDED}, or
   * from {@link StepBuffer#LATENT_QUERY} to {@link StepBuffer#LATENT_ATTENDED}.
   *
   * @param sinks one logit per head, or null
   */
  void attend(int layer, V sinks);

  /**
   * Sets {@link StepBuffer#ATTENDED}: for each head, its matrix · its part of {@link
   * StepBuffer#LATENT_ATTENDED}.
   */
  void expandValues(int layer, List<M> values);

  /** {@link StepBuffer#GATED} = {@link StepBuffer#GATE_UP}, combined as the shape requires. */
  void gate(FeedForward.Dense shape);

  /**
   * Chooses experts by the logits in {@link StepBuffer#ROUTER}. Sets {@link StepBuffer#DELTA} to
   * the weighted sum of their outputs, added in the order of choice.
   */
  void experts(int layer, ExpertWeights<M, V> weights, StepBuffer source);

  /**
   * {@link StepBuffer#DELTA} += {@link StepBuffer#SHARED}, weighted by the sigmoid of {@link
   * StepBuffer#SHARED_GATE} if {@code gated}.
   */
  void addShared(boolean gated);

  /** {@link StepBuffer#HIDDEN} += {@link StepBuffer#DELTA}, scaled. */
  void addResidual();

  /**
   * For each row that asked for an output: normalises {@link StepBuffer#HIDDEN}, computes logits
   * and samples.
   */
  void outputs(V norm, M head);

  /**
   * The experts of a layer.
   *
   * @param gateUp gate and up projections of each expert, stacked
   * @param down down projection of each expert
   * @param correction added to the scores, only for the choice; or null
   */
  record ExpertWeights<M, V>(List<M> gateUp, List<M> down, V correction) {}
}
