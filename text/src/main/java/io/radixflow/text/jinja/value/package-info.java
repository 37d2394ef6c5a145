/**
 * The values in chat templates, which behave like Python's: texts, numbers, lists, tuples and
 * dictionaries, with their printed forms, comparisons and arithmetic.
 *
 * <p>Java's {@code null} is None; {@code Boolean}, {@code Long}, {@code Double}, {@code String} and
 * {@code List} are bool, int, float, str and list.
 */
package io.radixflow.text.jinja.value;
