package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelLaunch;
import io.radixflow.kernels.cuda.driver.KernelModule;
import io.radixflow.kernels.cuda.gemm.GroupedProduct;
import io.radixflow.kernels.cuda.weights.CudaMatrix;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.FeedForward.Scoring;
import io.radixflow.models.ForwardOps.ExpertWeights;
import java.util.List;

/**
 * Records a mixture of experts: the choice of experts, the grouping of rows, the experts' products,
 * and the sum that is added to the hidden state. All counts stay on the device; the grids are
 * fixed.
 */
final class ExpertLaunches {

  private static final int CHOOSE_WARPS = 4;
  private static final int GROUP_THREADS = 256;
  private static final int GROUP_WARPS = GROUP_THREADS / 32;
  private static final int ADD_THREADS = 256;
  private static final int PRODUCT_THREADS = 256;
  private static final int PRODUCT_FEATURES = PRODUCT_THREADS / 32;
  private static final int PRODUCT_ROWS = 4;

  private final KernelModule module;
  private final ExpertBuffers buffers;
  private final DeviceMemory step;
  private final int hidden;
  private final int rows;
  private final List<KernelLaunch> launches;

  /** The experts whose sum has not been recorded yet, or null. */
  private Experts pending;

  private boolean sharedGated;

  /**
   * @param step the step's metadata, which begins with the number of rows
   * @param rows number of rows that the grids have room for
   * @param launches receives the launches
   */
  ExpertLaunches(
      KernelModule module,
      ExpertBuffers buffers,
      DeviceMemory step,
      int hidden,
      int rows,
      List<KernelLaunch> launches) {
    this.module = module;
    this.buffers = buffers;
    this.step = step;
    this.hidden = hidden;
    this.rows = rows;
    this.launches = launches;
  }

  /**
   * Records a product with a matrix of floats, which computes logits of the router or of the shared
   * gate.
   */
  void floatProduct(CudaMatrix matrix, DeviceMemory source, DeviceMemory target) {
    launches.add(
        module
            .launch("rf_float_product")
            .pointer(matrix.weights())
            .pointer(source)
            .pointerOrNull(matrix.bias())
            .pointer(target)
            .pointer(step)
            .integer(matrix.rows())
            .integer(matrix.columns())
            .grid(ceil(matrix.rows(), PRODUCT_FEATURES), ceil(rows, PRODUCT_ROWS), 1)
            .block(PRODUCT_THREADS));
  }

  /** Records the experts of a layer; {@link #add} or {@link #sum} completes them. */
  void record(Experts shape, ExpertWeights<CudaMatrix, DeviceMemory> weights, DeviceMemory source) {
    int choices = rows * shape.chosen();
    int tileRows = GroupedProduct.tileRows(ceil(choices, shape.count()));
    int mostTiles = GroupedProduct.mostTiles(choices, shape.count(), tileRows);
    ExpertBuffers.Groups groups = buffers.groups();
    choose(shape, weights.correction());
    group(shape, tileRows);
    launches.add(
        new GroupedProduct(module, weights.gateUp(), source, buffers.gated())
            .ofTiles(
                groups.tiles(),
                groups.tileCount(),
                groups.source(),
                tileRows,
                mostTiles,
                shape.expert()));
    launches.add(
        new GroupedProduct(module, weights.down(), buffers.gated(), buffers.expanded())
            .ofTiles(groups.tiles(), groups.tileCount(), null, tileRows, mostTiles, null));
    pending = shape;
    sharedGated = false;
  }

  private void choose(Experts shape, DeviceMemory correction) {
    Router router = shape.router();
    launches.add(
        module
            .launch("rf_choose_experts")
            .pointer(buffers.choices().logits())
            .pointerOrNull(correction)
            .pointer(step)
            .integer(shape.count())
            .integer(shape.chosen())
            .integer(router.scoring() == Scoring.SIGMOID ? 1 : 0)
            .integer(router.groups())
            .integer(router.chosenGroups())
            .integer(router.groupBest())
            .integer(router.normalised() ? 1 : 0)
            .real(router.scale())
            .pointer(buffers.choices().ids())
            .pointer(buffers.choices().weights())
            .grid(ceil(rows, CHOOSE_WARPS))
            .block(CHOOSE_WARPS * 32)
            .shared(CHOOSE_WARPS * (2 * shape.count() + router.groups()) * Float.BYTES));
  }

  private void group(Experts shape, int tileRows) {
    launches.add(
        module
            .launch("rf_group_experts")
            .pointer(buffers.choices().ids())
            .pointer(step)
            .integer(shape.chosen())
            .integer(shape.count())
            .integer(tileRows)
            .pointer(buffers.choices().places())
            .pointer(buffers.groups().source())
            .pointer(buffers.groups().tiles())
            .pointer(buffers.groups().tileCount())
            .grid(shape.count())
            .block(GROUP_THREADS)
            .shared((shape.count() + GROUP_WARPS) * Integer.BYTES));
  }

  /** Notes that the sum includes the output of the shared expert. */
  void addShared(boolean gated) {
    sharedGated = gated;
  }

  /**
   * Records the sum of the last recorded experts, added to the state, if it is not recorded yet.
   *
   * @param scale the sum's factor
   * @return false if there was no sum to record
   */
  boolean add(DeviceMemory state, float scale) {
    return sum(state, state, scale);
  }

  /** Like {@link #add}, but writes the sum to {@code target}. */
  boolean sum(DeviceMemory target) {
    return sum(target, null, 1);
  }

  private boolean sum(DeviceMemory target, DeviceMemory base, float scale) {
    if (pending == null) {
      return false;
    }
    launches.add(
        module
            .launch("rf_add_experts")
            .pointer(target)
            .pointerOrNull(base)
            .pointer(buffers.expanded())
            .pointer(buffers.choices().places())
            .pointer(buffers.choices().weights())
            .integer(pending.chosen())
            .pointerOrNull(pending.sharedWidth() > 0 ? buffers.shared() : null)
            .pointerOrNull(sharedGated ? buffers.sharedGate() : null)
            .pointer(step)
            .integer(hidden)
            .real(scale)
            .grid(rows)
            .block(ADD_THREADS));
    pending = null;
    return true;
  }

  private static int ceil(int count, int of) {
    return (count + of - 1) / of;
  }
}
