package io.radixflow.operators.tier;

/**
 * For pages of a store: how many stored pages have it as parent, and whether it was used since the
 * mark was last taken away. An open-addressed table in the heap, about 25 bytes a page. Pages are
 * told apart by 64 bits of their digests: should two ever share them, one is kept longer than need
 * be.
 *
 * <p>Safe for several threads.
 */
final class PageMarks {
  private static final int MIN_CAPACITY = 16;
  private static final int USED = 1;
  private static final int CHILD = 2;

  private long[] keys = new long[MIN_CAPACITY];
  private int[] values = new int[MIN_CAPACITY];
  private int size;

  /** A page is stored, or about to be: from now on its parent is not alone. */
  synchronized void expected(TierPage page) {
    if (page.parent() != null) {
      add(page.parent().d(), CHILD);
    }
  }

  /** A page was not stored after all. */
  synchronized void unexpected(TierPage page) {
    if (page.parent() != null && children(page.parent()) > 0) {
      add(page.parent().d(), -CHILD);
    }
  }

  /** A page is stored no longer. */
  synchronized void dropped(TierPage page) {
    unexpected(page);
    unuse(page.id());
  }

  /** Pages {@code from .. to-1} were used. */
  synchronized void use(PageId[] pages, int from, int to) {
    for (int i = from; i < to; i++) {
      if ((get(pages[i].d()) & USED) == 0) {
        add(pages[i].d(), USED);
      }
    }
  }

  synchronized boolean used(PageId page) {
    return (get(page.d()) & USED) != 0;
  }

  /** Takes the mark of use away. */
  synchronized void unuse(PageId page) {
    if ((get(page.d()) & USED) != 0) {
      add(page.d(), -USED);
    }
  }

  /** How many stored pages have it as parent. */
  synchronized int children(PageId page) {
    return get(page.d()) / CHILD;
  }

  synchronized void clear() {
    keys = new long[MIN_CAPACITY];
    values = new int[MIN_CAPACITY];
    size = 0;
  }

  /** The value of a key; 0, which no place holds, if it is not there. */
  private int get(long key) {
    return values[place(key)];
  }

  private int place(long key) {
    int mask = keys.length - 1;
    int at = (int) (key ^ key >>> 32) & mask;
    while (values[at] != 0 && keys[at] != key) {
      at = at + 1 & mask;
    }
    return at;
  }

  private void add(long key, int change) {
    int at = place(key);
    boolean fresh = values[at] == 0;
    keys[at] = key;
    values[at] += change;
    if (fresh && ++size * 2 > keys.length) {
      resize();
    } else if (values[at] == 0) {
      size--;
      close(at);
    }
  }

  /** Moves what a gap would hide from those who look for it. */
  private void close(int gap) {
    int mask = keys.length - 1;
    int empty = gap;
    for (int at = gap + 1 & mask; values[at] != 0; at = at + 1 & mask) {
      int home = (int) (keys[at] ^ keys[at] >>> 32) & mask;
      if ((at - home & mask) >= (at - empty & mask)) {
        keys[empty] = keys[at];
        values[empty] = values[at];
        values[at] = 0;
        empty = at;
      }
    }
  }

  private void resize() {
    long[] oldKeys = keys;
    int[] oldValues = values;
    keys = new long[oldKeys.length * 2];
    values = new int[oldKeys.length * 2];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldValues[i] != 0) {
        int at = place(oldKeys[i]);
        keys[at] = oldKeys[i];
        values[at] = oldValues[i];
      }
    }
  }
}
