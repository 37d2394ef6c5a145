/** Context-free rules over regular lexemes, and their parsers: Lark and GBNF. */
package io.radixflow.grammar.rule;
