package io.radixflow.protocol.record;

/**
 * A call of a tool by the assistant; a Flink POJO.
 *
 * @param id names the call, so that its result can say what it answers
 * @param name of the function
 * @param arguments JSON text, as the model or the client wrote it
 */
public record ToolCall(String id, String name, String arguments) {}
