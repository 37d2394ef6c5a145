package io.radixflow.lab.replay;

import java.util.HashMap;
import java.util.Map;

/** The locks that a trace holds, by its names for them. */
final class HeldLocks<T> {
  private final Map<Integer, T> held = new HashMap<>();

  void add(int name, T lock) {
    if (held.putIfAbsent(name, lock) != null) {
      throw new IllegalArgumentException("lock " + name + " is taken while it is held");
    }
  }

  T remove(int name) {
    T lock = held.remove(name);
    if (lock == null) {
      throw new IllegalArgumentException("lock " + name + " is released but not held");
    }
    return lock;
  }
}
