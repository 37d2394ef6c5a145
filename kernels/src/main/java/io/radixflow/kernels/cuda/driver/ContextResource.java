package io.radixflow.kernels.cuda.driver;

/** A resource that a {@link CudaContext} created. If nothing else closes it, the context does. */
abstract class ContextResource implements AutoCloseable {

  final CudaContext context;
  private final String destructor;
  private boolean closed;

  /**
   * @param destructor the driver call that frees the resource; null for a view of another resource,
   *     for which closing does nothing
   */
  ContextResource(CudaContext context, String destructor) {
    this.context = context;
    this.destructor = destructor;
    closed = destructor == null;
  }

  /** Calls the driver to free the resource and returns its {@code CUresult}. */
  abstract int destroy();

  /** The driver call that {@link #destroy} makes. */
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
