package io.radixflow.operators.record;

/** What a conversation event asks for; lower case in records. */
public enum EventKind {
  OPEN,
  MESSAGE,
  REGENERATE,
  FORK,
  CANCEL,
  CLOSE,
  ERASE,
  PREFETCH,
  QUERY
}
