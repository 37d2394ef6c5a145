package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Rope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Processes the queries, keys and values of one row between projection and attention: norms,
 * rotation, and storage in the pool. Each worker calls it for its own rows.
 */
final class HeadRows {

  private record TableKey(Rope rope, int width) {}

  private final ModelConfig config;
  private final Kernels kernels;
  private final StepRows rows;

  /** The rotation table of each layer; null for a layer without rotary embedding. */
  private final RopeTable[] tables;

  private final List<RopeTable> distinct = new ArrayList<>();

  HeadRows(ModelConfig config, Kernels kernels, StepRows rows) {
    this.config = config;
    this.kernels = kernels;
    this.rows = rows;
    tables = new RopeTable[config.layers()];
    Map<TableKey, RopeTable> known = new HashMap<>();
    for (int layer = 0; layer < tables.length; layer++) {
      Attention attention = config.layer(layer).attention();
      Rope rope = attention.rope();
      int width =
          attention instanceof Latent latent
              ? latent.rotatedDim()
              : ((Grouped) attention).headDim();
      if (rope != null) {
        tables[layer] =
            known.computeIfAbsent(new TableKey(rope, width), key -> new RopeTable(rope, width));
      }
    }
    distinct.addAll(known.values());
  }

  /** Extends the tables to all positions below {@code count}. */
  void ensure(int count) {
    for (RopeTable table : distinct) {
      table.ensure(count);
    }
  }

  /** RMS norm of {@code n} elements. */
  void norm(
      Floats x, int xo, Floats gain, Floats out, int oo, int n, float epsilon, float[] lanes) {
    float squares = kernels.sumOfSquares(x, xo, n, lanes);
    float factor = (float) (1 / Math.sqrt((double) squares / n + epsilon));
    kernels.scale(x, xo, factor, gain, out, oo, n);
  }

  /** Prepares and stores the heads of one row of grouped attention; they begin at {@code at}. */
  void grouped(
      CpuKvPool pool,
      int layer,
      int row,
      Floats x,
      int at,
      Floats queryNorm,
      Floats keyNorm,
      float[] lanes) {
    Grouped attention = (Grouped) config.layer(layer).attention();
    int headDim = attention.headDim();
    int position = rows.position[row];
    int keys = attention.heads();
    int values = keys + attention.kvHeads();
    float epsilon = config.normEpsilon();
    if (attention.qkNorm() == QkNorm.ALL_HEADS) {
      int keysAt = at + keys * headDim;
      norm(x, at, queryNorm, x, at, keys * headDim, epsilon, lanes);
      norm(x, keysAt, keyNorm, x, keysAt, (values - keys) * headDim, epsilon, lanes);
    }
    for (int head = 0; head < values; head++) {
      int from = at + head * headDim;
      if (attention.qkNorm() == QkNorm.HEAD) {
        norm(x, from, head < keys ? queryNorm : keyNorm, x, from, headDim, epsilon, lanes);
      }
      if (tables[layer] != null) {
        tables[layer].rotate(x, from, position);
      }
    }
    if (attention.scores().growth() != null) {
      float factor = attention.scores().growth().at(position);
      for (int i = at; i < at + keys * headDim; i++) {
        x.set(i, x.get(i) * factor);
      }
    }
    int page = rows.pages[row][position / CpuKvPool.PAGE_TOKENS];
    for (int head = 0; head < attention.kvHeads(); head++) {
      int k = at + (keys + head) * headDim;
      int v = at + (values + head) * headDim;
      pool.store(page, position % CpuKvPool.PAGE_TOKENS, layer, head, x, k, x, v);
    }
  }

  /**
   * Prepares the queries of one row of latent attention and stores its compressed keys.
   *
   * @param queries queries of all heads, from {@code queriesAt} on
   * @param latent the compressed vector and the rotated part of the key, from {@code latentAt} on
   */
  void latent(
      CpuKvPool pool,
      int layer,
      int row,
      Floats queries,
      int queriesAt,
      Floats latent,
      int latentAt,
      Floats norm,
      float[] lanes) {
    Latent attention = (Latent) config.layer(layer).attention();
    int position = rows.position[row];
    int rank = attention.kvRank();
    float epsilon = config.norm().latentEpsilon();
    norm(latent, latentAt, norm, latent, latentAt, rank, epsilon, lanes);
    if (tables[layer] != null) {
      tables[layer].rotate(latent, latentAt + rank, position);
      for (int head = 0; head < attention.heads(); head++) {
        int rotated = queriesAt + head * attention.queryDim() + attention.plainDim();
        tables[layer].rotate(queries, rotated, position);
      }
    }
    int page = rows.pages[row][position / CpuKvPool.PAGE_TOKENS];
    pool.storeKey(page, position % CpuKvPool.PAGE_TOKENS, layer, 0, latent, latentAt);
  }

  /** Copies the rotated part of one row's queries to the place after their compressed part. */
  void copyRotated(int layer, Floats queries, int queriesAt, Floats compressed, int at) {
    Latent attention = (Latent) config.layer(layer).attention();
    for (int head = 0; head < attention.heads(); head++) {
      int from = queriesAt + head * attention.queryDim() + attention.plainDim();
      int to = at + head * attention.keyWidth() + attention.kvRank();
      compressed.put(to, queries, from, attention.rotatedDim());
    }
  }
}
