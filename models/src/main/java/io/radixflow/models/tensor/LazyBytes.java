package io.radixflow.models.tensor;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

/**
 * Bytes of a file. All of them are read when they are first needed, and kept while a caller has the
 * buffer.
 */
@FunctionalInterface
public interface LazyBytes extends Supplier<ByteBuffer> {

  /** Size in bytes. For a file it is known without reading it. */
  default long size() {
    return get().capacity();
  }
}
