package io.radixflow.kernels.text.jinja;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Predicate;

/** The elements that a loop's test accepts, tested when they are asked for. */
final class FilteredIterator implements Iterator<Object> {
  private final Iterator<Object> items;
  private final Predicate<Object> accepts;
  private Object next;
  private boolean found;

  FilteredIterator(Iterator<Object> items, Predicate<Object> accepts) {
    this.items = items;
    this.accepts = accepts;
  }

  @Override
  public boolean hasNext() {
    while (!found && items.hasNext()) {
      next = items.next();
      found = accepts.test(next);
    }
    return found;
  }

  @Override
  public Object next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    found = false;
    return next;
  }
}
