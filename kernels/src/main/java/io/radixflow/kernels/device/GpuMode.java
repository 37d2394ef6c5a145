package io.radixflow.kernels.device;

/** The promises of a GPU backend about its results. */
public enum GpuMode {
  /**
   * A token's logits depend on its prefix alone, bit for bit: tiles and splits are a function of
   * the model, never of the batch.
   */
  DETERMINISTIC,
  /**
   * Tiles and splits suit the batch, so that the last bits of a reply may differ from one run to
   * the next.
   */
  FAST
}
