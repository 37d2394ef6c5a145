package io.radixflow.text.template;

/**
 * A call of a tool by the assistant.
 *
 * @param id the id of the call, which the tool's answer repeats
 * @param name the name of the function
 * @param arguments JSON text as the model or the client wrote it
 */
public record TemplateCall(String id, String name, String arguments) {}
