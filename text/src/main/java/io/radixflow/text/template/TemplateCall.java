package io.radixflow.text.template;

/**
 * A call of a tool by the assistant.
 *
 * @param id the call's id, which the tool's answer names
 * @param name the function's name
 * @param arguments JSON text as the model or the client wrote it
 */
public record TemplateCall(String id, String name, String arguments) {}
