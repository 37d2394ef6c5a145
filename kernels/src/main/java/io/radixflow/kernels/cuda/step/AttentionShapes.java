package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/**
 * The shapes of a model's layers. Layers of one shape share the plan of a step's attention, which
 * has the shape's number.
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
   * @throws IllegalArgumentException if the kernels do not know the model's heads
   */
  static AttentionShapes of(ModelConfig config, KvSpec.Type type, int pageTokens) {
    return new AttentionShapes(config, type, pageTokens);
  }

  /** The shapes, each once. */
  List<AttentionShape> all() {
    return shapes;
  }

  /** The number of a layer's shape. */
  int number(int layer) {
    return ofLayer[layer];
  }

  /** The shape of a layer. */
  AttentionShape layer(int layer) {
    return shapes.get(ofLayer[layer]);
  }
}
