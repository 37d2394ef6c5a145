/**
 * Grammars that constrain a reply. JSON Schema, regular expressions, Lark and GBNF become one
 * automaton over bytes, and its state becomes a mask over the tokens of a vocabulary. Plain Java,
 * usable without the other modules: {@link io.radixflow.grammar.Grammar} compiles, {@link
 * io.radixflow.grammar.GrammarMatcher} follows one reply.
 */
package io.radixflow.grammar;
