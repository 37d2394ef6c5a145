/**
 * An own implementation of the Jinja language as chat templates use it: lexer, parser and
 * interpreter, equal to Jinja2 in an immutable sandbox with trimmed blocks, loop controls and
 * {@code generation} tags. Templates are not trusted: see {@link
 * io.radixflow.kernels.text.jinja.value.Budget}.
 */
package io.radixflow.kernels.text.jinja;
