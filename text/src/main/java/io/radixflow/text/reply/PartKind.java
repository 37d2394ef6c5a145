package io.radixflow.text.reply;

/** The kinds of text in a reply. */
public enum PartKind {
  /** Text for the user. */
  CONTENT,
  /** Text that the model wrote to itself before it answered. */
  REASONING,
  /** The name of a function. It begins a call. */
  TOOL_CALL,
  /** A piece of the JSON text of a call's arguments. */
  ARGUMENTS
}
