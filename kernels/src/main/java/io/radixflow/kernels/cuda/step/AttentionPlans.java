package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.models.ModelConfig;

/**
 * Plans a step's attention for each shape of a model's layers. Owned by the thread that submits.
 */
public final class AttentionPlans {

  private final AttentionPlanner[] planners;

  public AttentionPlans(
      CudaDevice device, ModelConfig config, StepBuffers buffers, CudaKvPool pool, GpuMode mode) {
    planners =
        AttentionShapes.of(config, pool.type(), pool.pageTokens()).all().stream()
            .map(
                shape ->
                    new AttentionPlanner(
                        shape,
                        mode,
                        CudaModel.attentionBlocks(device),
                        device.sharedMemory() >= shape.keysSharedBytes(),
                        new AttentionPlanner.Limits(
                            buffers.layout().maxRows(),
                            buffers.layout().maxTiles(),
                            buffers.maxPartials(shape))))
            .toArray(AttentionPlanner[]::new);
  }

  /** Plans the attention of a step, after {@link StepPlan#take}. */
  public void plan(StepPlan step) {
    for (int shape = 0; shape < planners.length; shape++) {
      step.attention(shape, planners[shape]);
    }
  }

  /** Returns the program key of the step that was planned last. */
  public StepProgram.Key key(int rows) {
    boolean keys = false;
    boolean packed = false;
    for (AttentionPlanner planner : planners) {
      keys |= planner.keyTiles() > 0;
      packed |= planner.tiles() > planner.keyTiles();
    }
    return new StepProgram.Key(rows, keys, packed);
  }

  /** Returns the program key of decode steps. */
  StepProgram.Key decodeKey(int rows) {
    boolean keys = false;
    boolean packed = false;
    for (AttentionPlanner planner : planners) {
      keys |= planner.decodesByKeys();
      packed |= !planner.decodesByKeys();
    }
    return new StepProgram.Key(rows, keys, packed);
  }
}
