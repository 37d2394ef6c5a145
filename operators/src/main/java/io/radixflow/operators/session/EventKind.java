package io.radixflow.operators.session;

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
