package io.radixflow.kernels.grammar;

import io.radixflow.kernels.grammar.regex.GrammarException;
import io.radixflow.kernels.grammar.regex.Limits;
import io.radixflow.kernels.grammar.regex.RegexParser;
import io.radixflow.kernels.grammar.regex.RegexPool;
import io.radixflow.kernels.grammar.rule.GbnfParser;
import io.radixflow.kernels.grammar.rule.LarkParser;
import io.radixflow.kernels.grammar.rule.Rule;
import io.radixflow.kernels.grammar.rule.RuleBook;
import io.radixflow.kernels.grammar.schema.SchemaCompiler;
import io.radixflow.kernels.grammar.schema.Whitespace;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * A compiled grammar: the texts that a reply may be. Safe for many threads, which wait for each
 * other while one derives what none has met before; a {@link GrammarMatcher} follows one reply.
 *
 * <p>What follows a text is a pure function of the grammar and the text, so a reply that goes on
 * elsewhere feeds its ids again.
 */
public final class Grammar {
  private static final int MAX_VOCABULARIES = 8;

  /** Guards the automaton and the masks, which are derived as they are needed. */
  final Object lock = new Object();

  final Automaton automaton;
  private final Map<TokenTrie, TokenMasks> masks = new IdentityHashMap<>();

  private volatile long bytes;

  private Grammar(RuleBook book) {
    automaton = new Automaton(Program.of(book));
    measure();
  }

  /** Estimates the memory anew; called with the lock held. */
  void measure() {
    long sum = automaton.bytes();
    for (TokenMasks each : masks.values()) {
      sum += each.bytes();
    }
    bytes = sum;
  }

  /**
   * Returns an estimate of the memory that this grammar takes, which grows as texts are followed.
   */
  public long bytes() {
    return bytes;
  }

  /**
   * The JSON documents that a schema (draft 2020-12) allows.
   *
   * @throws GrammarException if the schema is malformed, asks for something that is not supported,
   *     cannot be met, or is too large
   */
  public static Grammar jsonSchema(String schema, Whitespace whitespace) {
    return new Grammar(SchemaCompiler.compile(checked(schema), whitespace));
  }

  /**
   * The texts that a regular expression matches as a whole, in the syntax of Rust's regex crate.
   *
   * @throws GrammarException if the expression is malformed, not supported or too large
   */
  public static Grammar regex(String regex) {
    return new Grammar(regexBook(checked(regex)));
  }

  /**
   * The texts of a grammar in a subset of Lark, from its rule {@code start}; {@code %json} and a
   * schema stand for JSON with any whitespace.
   *
   * @throws GrammarException if the grammar is malformed, not supported or too large
   */
  public static Grammar lark(String grammar) {
    return new Grammar(larkBook(checked(grammar), Whitespace.ANY));
  }

  /**
   * The texts of a grammar in GBNF, from its rule {@code root}.
   *
   * @throws GrammarException if the grammar is malformed or too large
   */
  public static Grammar gbnf(String grammar) {
    return new Grammar(GbnfParser.parse(checked(grammar)));
  }

  /**
   * Compiles a grammar from its source; JSON may have {@link Whitespace#SHORT}.
   *
   * @throws GrammarException if it is malformed, not supported or too large
   */
  public static Grammar of(GrammarSpec spec) {
    String text = checked(spec.text());
    RuleBook book =
        switch (spec.kind()) {
          case JSON_SCHEMA -> schemaBook(text);
          case REGEX -> regexBook(text);
          case LARK -> larkBook(text, Whitespace.SHORT);
          case GBNF -> GbnfParser.parse(text);
        };
    if (!spec.before().isEmpty()) {
      Rule before = book.lexeme(RegexParser.whole(book.pool, checked(spec.before()), ""));
      book.define(0, Rule.seq(before, book.body(0)));
    }
    return new Grammar(book);
  }

  private static RuleBook schemaBook(String schema) {
    RuleBook book = new RuleBook(new RegexPool());
    int start = book.reserve();
    book.define(start, Rule.NOTHING);
    book.define(start, SchemaCompiler.compile(book, schema, Whitespace.SHORT));
    return book;
  }

  private static RuleBook regexBook(String regex) {
    RuleBook book = new RuleBook(new RegexPool());
    int start = book.reserve();
    book.define(start, book.lexeme(RegexParser.whole(book.pool, regex, "")));
    return book;
  }

  private static RuleBook larkBook(String grammar, Whitespace whitespace) {
    return LarkParser.parse(
        grammar, (book, schema) -> SchemaCompiler.compile(book, schema, whitespace));
  }

  private static String checked(String source) {
    if (source.length() > Limits.SOURCE) {
      throw GrammarException.tooLarge("it has more than " + Limits.SOURCE + " characters");
    }
    return source;
  }

  /** A matcher at the start of a text, for bytes alone. */
  public GrammarMatcher matcher() {
    return new GrammarMatcher(this, null, null);
  }

  /** A matcher at the start of a reply in tokens of a vocabulary. */
  public GrammarMatcher matcher(TokenTrie trie) {
    synchronized (lock) {
      if (masks.size() >= MAX_VOCABULARIES && !masks.containsKey(trie)) {
        masks.clear();
      }
      TokenMasks ofTrie = masks.computeIfAbsent(trie, t -> new TokenMasks(automaton, t));
      return new GrammarMatcher(this, trie, ofTrie);
    }
  }
}
