/**
 * The values that chat templates compute with, as Python has them: texts, numbers, lists, tuples,
 * dictionaries, their printed forms, comparisons and arithmetic.
 *
 * <p>Java's {@code null} is None; {@code Boolean}, {@code Long}, {@code Double}, {@code String} and
 * {@code List} are bool, int, float, str and list.
 */
package io.radixflow.text.jinja.value;
