/**
 * Reads regular expressions of several dialects for two kinds of matching: the backtracking of
 * tokenizers and the automata of grammars. Sets of code points; the properties of Unicode 16.0.
 */
package io.radixflow.text.regex;
