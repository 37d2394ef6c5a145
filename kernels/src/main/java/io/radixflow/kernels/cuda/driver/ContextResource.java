package io.radixflow.kernels.cuda.driver;

/** Something that a {@link CudaContext} has made and closes at the latest with itself. */
abstract class ContextResource implements AutoCloseable {

  final CudaContext context;
  private final String destructor;
  private boolean closed;

  /**
   * @param destructor the driver's call that frees it; null for a view of another resource, whose
   *     closing does nothing
   */
  ContextResource(CudaContext context, String destructor) {
    this.context = context;
    this.destructor = destructor;
    closed = destructor == null;
  }

  /** Calls the driver to free the resource and returns its {@code CUresult}. */
  abstract int destroy();

  /** The driver's call that {@link #destroy} makes. */
  final String destructor() {
    return destructor;
  }

  @Override
  public final void close() {
    if (!closed) {
      closed = true;
      context.free(this);
    }
  }
}
