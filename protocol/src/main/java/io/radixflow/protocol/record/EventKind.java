package io.radixflow.protocol.record;

/** The request of a conversation event; lower case in records. */
public enum EventKind {
  OPEN,
  MESSAGE,
  REGENERATE,
  APPEND,
  FORK,
  DELETE_TURN,
  CANCEL,
  CLOSE,
  ERASE,
  PREFETCH,
  QUERY
}
