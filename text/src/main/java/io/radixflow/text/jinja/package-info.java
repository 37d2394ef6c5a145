/**
 * The part of the Jinja language that models' templates use: lexer, parser and interpreter. It
 * behaves like Jinja2 in an immutable sandbox with trimmed blocks, loop controls and {@code
 * generation} tags. Names that models' templates do not use are errors; see {@link Refusals}.
 * Templates are untrusted; see {@link io.radixflow.text.jinja.value.Budget}.
 */
package io.radixflow.text.jinja;
