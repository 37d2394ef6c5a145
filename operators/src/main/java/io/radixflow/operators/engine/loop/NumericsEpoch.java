package io.radixflow.operators.engine.loop;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.EpochHash;
import io.radixflow.kernels.text.tokenizer.Tokenizer;

/** The numerics epoch of a backend with a tokenizer. */
final class NumericsEpoch {
  private NumericsEpoch() {}

  /** The {@link EpochHash} of backend epoch, a slash and fingerprint. */
  static String of(Backend backend, Tokenizer tokenizer) {
    return EpochHash.of(backend.numericsEpoch() + "/" + tokenizer.fingerprint());
  }
}
