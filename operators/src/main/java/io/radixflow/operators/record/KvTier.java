package io.radixflow.operators.record;

/** Where a page's keys and values lie, the fastest first. */
public enum KvTier {
  /** The pool of the engine's device. */
  DEVICE,
  /** Memory of the engine's host. */
  HOST,
  /** A disk of the engine's host. */
  DISK,
  /** A file system that other hosts reach, too. */
  REMOTE
}
