package io.radixflow.kernels.text.template;

/**
 * One message of a conversation, as a chat template sees it.
 *
 * @param role {@code system}, {@code user}, {@code assistant} or {@code tool}
 * @param content plain text
 */
public record ChatMessage(String role, String content) {}
