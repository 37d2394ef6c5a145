package io.radixflow.lab.device;

import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelConfig.Norm;
import io.radixflow.models.ModelConfig.Scales;
import io.radixflow.models.Rope;
import io.radixflow.models.Rope.Llama3Scaling;
import io.radixflow.models.TensorType;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Measures a GPU: its peaks, products, and whole steps of known models' shapes. */
public final class GpuBench {

  private static final int CONTEXT = 4096;

  private GpuBench() {}

  /** Returns the shapes by their names in lower case. */
  public static Map<String, ModelConfig> shapes() {
    Rope llama3 = new Rope(500_000, false, new Llama3Scaling(8, 1, 4, 8192));
    Rope qwen3 = new Rope(1e6, false, null);
    Rope smol = new Rope(100_000, false, null);
    Map<String, ModelConfig> shapes = new TreeMap<>();
    for (ModelConfig shape :
        List.of(
            shape("SmolLM2-135M", "llama", 49_152, 30, 576, 1536, 9, 3, 64, smol, true),
            shape("Qwen3-0.6B", "qwen3", 151_936, 28, 1024, 3072, 16, 8, 128, qwen3, true),
            shape("Qwen3-8B", "qwen3", 151_936, 36, 4096, 12_288, 32, 8, 128, qwen3, false),
            shape("Llama-3.1-8B", "llama", 128_256, 32, 4096, 14_336, 32, 8, 128, llama3, false),
            experts(
                shape("Qwen3-30B-A3B-6L", "qwen3", 151_936, 6, 2048, 8, 32, 4, 128, qwen3, false)),
            latent())) {
      shapes.put(shape.name().toLowerCase(Locale.ROOT), shape);
    }
    return shapes;
  }

  /** Returns the types that weights may have. */
  public static Set<TensorType> weightTypes() {
    return RandomWeights.TYPES;
  }

  private static ModelConfig shape(
      String name,
      String architecture,
      int vocab,
      int layers,
      int hidden,
      int intermediate,
      int heads,
      int kvHeads,
      int headDim,
      Rope rope,
      boolean tied) {
    return ModelConfig.uniform(
        architecture,
        name,
        vocab,
        CONTEXT,
        layers,
        hidden,
        intermediate,
        heads,
        kvHeads,
        headDim,
        1e-5f,
        rope,
        false,
        architecture.equals("qwen3"),
        tied);
  }

  /** Returns a shape with 8 of 128 experts, like Qwen3-30B-A3B. */
  private static ModelConfig experts(ModelConfig config) {
    FeedForward block = new Experts(128, 8, Dense.silu(768), Router.softmax(true), 0, false);
    return config.withBlocks(
        config.blocks().stream()
            .map(layer -> new Layer(layer.attention(), block, layer.norms()))
            .toList());
  }

  /** Returns six layers of DeepSeek-V2-Lite: latent attention before experts. */
  private static ModelConfig latent() {
    Latent attention =
        new Latent(16, 0, 512, 128, 64, 128, new Rope(10_000, true, null), false, 0.072f);
    Experts block = new Experts(64, 6, Dense.silu(1408), Router.softmax(false), 2816, false);
    return new ModelConfig(
        "deepseek2",
        "DeepSeek-V2-Lite-6L",
        102_400,
        CONTEXT,
        2048,
        Norm.rms(1e-6f),
        Scales.NONE,
        Collections.nCopies(6, new Layer(attention, block, Layer.Norms.BEFORE)),
        false);
  }
}
