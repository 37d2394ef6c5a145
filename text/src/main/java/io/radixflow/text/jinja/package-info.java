/**
 * The Jinja language as templates of models use it: lexer, parser and interpreter, equal to Jinja2
 * in an immutable sandbox with trimmed blocks, loop controls and {@code generation} tags. Names
 * that templates of models do not use are refused, see {@link Refusals}. Templates are not trusted:
 * see {@link io.radixflow.text.jinja.value.Budget}.
 */
package io.radixflow.text.jinja;
