package io.radixflow.text.jinja.value;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Supplier;

/** Computes elements when they are requested. */
public final class Lazy implements Iterator<Object> {
  private final Supplier<Object> source;
  private Object next;
  private boolean computed;

  /**
   * @param source returns the next element, or {@link Arguments#MISSING} at the end
   */
  public Lazy(Supplier<Object> source) {
    this.source = source;
  }

  @Override
  public boolean hasNext() {
    if (!computed) {
      next = source.get();
      computed = true;
    }
    return next != Arguments.MISSING;
  }

  @Override
  public Object next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    computed = false;
    return next;
  }
}
