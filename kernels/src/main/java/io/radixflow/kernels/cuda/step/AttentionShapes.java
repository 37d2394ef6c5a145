package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/**
 * The attention shapes of a model. Layers with the same shape share the shape's plan of a step's
 * attention.
 */
public final class AttentionShapes {

  private final List<AttentionShape> shapes = new ArrayList<>();
  private final int[] ofLayer;

  private AttentionShapes(ModelConfig config, KvSpec.Type type, int pageTokens) {
    ofLayer = new int[config.layers()];
    for (int layer = 0; layer < ofLayer.length; layer++) {
      AttentionShape shape = AttentionShape.of(config.layer(layer).attention(), type, pageTokens);
      if (!shapes.contains(shape)) {
        shapes.add(shape);
      }
      ofLayer[layer] = shapes.indexOf(shape);
    }
  }

  /**
   * @throws IllegalArgumentException if the kernels do not support the model's heads
   */
  static AttentionShapes of(ModelConfig config, KvSpec.Type type, int pageTokens) {
    return new AttentionShapes(config, type, pageTokens);
  }

  /** All shapes, without duplicates. */
  List<AttentionShape> all() {
    return shapes;
  }

  /** The number of a layer's shape, which is its index in {@link #all}. */
  int number(int layer) {
    return ofLayer[layer];
  }

  /** The shape of a layer. */
  AttentionShape layer(int layer) {
    return shapes.get(ofLayer[layer]);
  }
}
