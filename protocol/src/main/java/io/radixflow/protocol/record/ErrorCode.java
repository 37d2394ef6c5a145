package io.radixflow.protocol.record;

/** The kind of an error, for programs; lower case in records. */
public enum ErrorCode {
  /** The event cannot be read or is not valid as it is. */
  INVALID_REQUEST,
  /** No event has opened the session. */
  UNKNOWN_SESSION,
  /** The session has no such turn. */
  UNKNOWN_TURN,
  /** The session has no such branch. */
  UNKNOWN_BRANCH,
  /** The session belongs to another tenant; nothing more is said about it. */
  WRONG_TENANT,
  /** The session was closed or erased. */
  SESSION_ENDED,
  /** Conversation and turn do not fit into the context window. */
  CONTEXT_LENGTH_EXCEEDED,
  /** A limit is reached for now; the sender may try again later with another turn id. */
  BUSY,
  /** The service drains and accepts nothing new. */
  DRAINING,
  /** The turn failed. */
  FAILED
}
