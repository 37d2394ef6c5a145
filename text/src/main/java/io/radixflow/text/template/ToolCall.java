package io.radixflow.text.template;

/**
 * A call of a tool by the assistant; a Flink POJO.
 *
 * @param id id of the call, to which the result refers
 * @param name name of the function
 * @param arguments JSON text, as the model or the client wrote it
 */
public record ToolCall(String id, String name, String arguments) {}
