package io.radixflow.operators.record;

/**
 * A message as a sender gave it, or a reply as it was given; a Flink POJO.
 *
 * @param role {@code system}, {@code user}, {@code assistant} or {@code tool}
 * @param content plain text, content parts joined
 */
public record Message(String role, String content) {}
