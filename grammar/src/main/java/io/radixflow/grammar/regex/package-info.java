/** Regular languages over bytes: expressions, their parser, and the automata derived from them. */
package io.radixflow.grammar.regex;
