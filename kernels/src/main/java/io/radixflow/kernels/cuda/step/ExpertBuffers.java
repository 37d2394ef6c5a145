package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.DeviceAllocator;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.gemm.GroupedProduct;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;

/**
 * The memory of a step's mixture of experts, which all layers share. {@code experts.cuh} describes
 * the contents. A choice is one expert of one row. A place is the index of a choice when all
 * choices are sorted by expert. Freed with the context.
 *
 * @param gated the gated up projection of each place, in bf16
 * @param expanded the expert's output for each place, in floats
 * @param shared the output of the shared expert, in floats; null without one
 * @param sharedGate the logit that weights the shared expert's output, in floats; null without one
 */
record ExpertBuffers(
    Choices choices,
    Groups groups,
    DeviceMemory gated,
    DeviceMemory expanded,
    DeviceMemory shared,
    DeviceMemory sharedGate) {

  /**
   * The experts that each row chose.
   *
   * @param logits one float per row and expert
   * @param ids the experts of each row, in the order of choice
   * @param weights their weights, floats
   * @param places the places of each row's choices
   */
  record Choices(
      DeviceMemory logits, DeviceMemory ids, DeviceMemory weights, DeviceMemory places) {}

  /**
   * The rows of each expert.
   *
   * @param source the row of each place
   * @param tiles places that are computed together; four integers per tile: expert, first place,
   *     number of places, unused
   * @param tileCount number of tiles
   */
  record Groups(DeviceMemory source, DeviceMemory tiles, DeviceMemory tileCount) {}

  private static final int TILE_BYTES = 4 * Integer.BYTES;

  /**
   * Allocates the memory for steps of up to {@code maxRows} rows; null for a model without experts.
   */
  static ExpertBuffers allocate(DeviceAllocator device, ModelConfig config, int maxRows) {
    int count = 0;
    int chosen = 0;
    int width = 0;
    int shared = 0;
    for (Layer layer : config.blocks()) {
      if (layer.feedForward() instanceof Experts experts) {
        count = Math.max(count, experts.count());
        chosen = Math.max(chosen, experts.chosen());
        width = Math.max(width, experts.expert().width());
        shared = Math.max(shared, experts.sharedWidth());
      }
    }
    if (count == 0) {
      return null;
    }
    long words = (long) maxRows * Integer.BYTES;
    long choices = words * chosen;
    long hidden = config.hiddenSize();
    int tiles = GroupedProduct.mostTiles(maxRows * chosen, count, 1);
    return new ExpertBuffers(
        new Choices(
            device.allocate(words * count, "logits of experts"),
            device.allocate(choices, "choices of experts"),
            device.allocate(choices, "weights of experts"),
            device.allocate(choices, "places of experts")),
        new Groups(
            device.allocate(choices, "rows of experts"),
            device.allocate((long) TILE_BYTES * tiles, "tiles of experts"),
            device.allocate(Integer.BYTES, "the number of tiles of experts")),
        device.allocate((long) maxRows * chosen * width * BFloat16.BYTES, "MLPs of experts"),
        device.allocate(choices * hidden, "outputs of experts"),
        shared == 0 ? null : device.allocate(words * hidden, "the output of the shared expert"),
        shared == 0 ? null : device.allocate(words, "the gate of the shared expert"));
  }
}
