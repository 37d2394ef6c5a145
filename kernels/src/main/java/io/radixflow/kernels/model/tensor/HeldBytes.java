package io.radixflow.kernels.model.tensor;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

/** Bytes of a file that are read whole when they are needed, and kept while somebody holds them. */
@FunctionalInterface
public interface HeldBytes extends Supplier<ByteBuffer> {

  /** How many bytes there are; known before they are read where they are a file's. */
  default long size() {
    return get().capacity();
  }
}
