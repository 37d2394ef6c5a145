package io.radixflow.kernels.text.tokenizer;

/**
 * A token outside the merges, found in a text as a whole.
 *
 * @param text how it is written in a template
 * @param id its id
 * @param special whether it is no part of the text that people see
 * @param stripLeft whether it swallows the white space before it
 * @param stripRight whether it swallows the white space after it
 */
public record AddedToken(
    String text, int id, boolean special, boolean stripLeft, boolean stripRight) {}
