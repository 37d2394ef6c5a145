package io.radixflow.kernels.cuda.driver;

/** Something that a {@link CudaContext} has made and closes at the latest with itself. */
interface ContextResource extends AutoCloseable {

  @Override
  void close();
}
