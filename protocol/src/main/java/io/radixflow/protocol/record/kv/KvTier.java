package io.radixflow.protocol.record.kv;

/** The tiers that hold pages of keys and values, the fastest first. */
public enum KvTier {
  /** The pool of the engine's device. */
  DEVICE,
  /** Memory of the engine's host. */
  HOST,
  /** A disk of the engine's host. */
  DISK,
  /** A file system that other hosts also reach. */
  REMOTE
}
