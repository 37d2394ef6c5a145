package io.radixflow.kernels.device;

/** What a GPU backend promises about its results. */
public enum GpuMode {
  /**
   * A token's logits depend only on its prefix, bit for bit. Tiles and splits depend on the model,
   * never on the batch.
   */
  DETERMINISTIC,
  /**
   * Tiles and splits are chosen for each batch, so the last bits of logits, and with them a reply,
   * may differ between runs.
   */
  FAST
}
