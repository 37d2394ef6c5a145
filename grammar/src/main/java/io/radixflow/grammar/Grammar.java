package io.radixflow.grammar;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.RegexCompiler;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.grammar.regex.Work;
import io.radixflow.grammar.rule.GbnfParser;
import io.radixflow.grammar.rule.LarkParser;
import io.radixflow.grammar.rule.Rule;
import io.radixflow.grammar.rule.RuleBook;
import io.radixflow.grammar.rule.SchemaSource;
import io.radixflow.grammar.schema.SchemaCompiler;
import io.radixflow.grammar.schema.SchemaFindings;
import io.radixflow.grammar.schema.Whitespace;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A compiled grammar: the set of allowed replies. Thread-safe; a thread that derives a new state
 * blocks the others. A {@link GrammarMatcher} follows one reply.
 *
 * <p>The texts that may follow a text depend only on the grammar and the text. A reply that
 * continues on another machine therefore feeds its ids again.
 */
public final class Grammar {
  private static final int MAX_VOCABULARIES = 8;

  /** Guards the automaton and the masks, which are derived as they are needed. */
  final Object lock = new Object();

  final Automaton automaton;
  private final Map<TokenTrie, TokenMasks> masks = new IdentityHashMap<>();

  private final List<String> notices;

  private volatile long bytes;

  private Grammar(RuleBook book, List<String> notices) {
    automaton = new Automaton(Program.of(book));
    this.notices = notices;
    measure();
  }

  /** Makes the rules of a grammar with the findings of earlier attempts. */
  private interface Source {
    RuleBook rules(RegexPool pool, SchemaFindings findings);
  }

  /** Compiles a grammar; a loose schema that does not compile allows any object. */
  private static Grammar compile(Source source) {
    SchemaFindings findings = new SchemaFindings();
    while (true) {
      try {
        return compile(source, findings, new Work());
      } catch (GrammarException e) {
        if (findings.loose().isEmpty()) {
          throw e;
        }
        free(findings, e);
      }
    }
  }

  /** Compiles again as long as an attempt has new findings; the number of findings is limited. */
  private static Grammar compile(Source source, SchemaFindings findings, Work work) {
    while (true) {
      findings.begin();
      try {
        RuleBook book = source.rules(new RegexPool(work), findings);
        return new Grammar(book, findings.notices());
      } catch (SchemaFindings.Retry again) {
        work.spend(1);
      }
    }
  }

  /**
   * Stops enforcing the loose schemas that do not compile alone, or all loose schemas if each
   * compiles alone.
   */
  private static void free(SchemaFindings findings, GrammarException reason) {
    Set<SchemaSource> all = findings.loose();
    boolean found = false;
    for (SchemaSource each : all) {
      try {
        Work share = new Work(Limits.COMPILE_WORK / all.size());
        compile(schemaSource(each, Whitespace.SHORT), new SchemaFindings(), share);
      } catch (GrammarException e) {
        findings.free(each, e.getMessage());
        found = true;
      }
    }
    if (!found) {
      all.forEach(each -> findings.free(each, reason.getMessage()));
    }
  }

  /** Updates the memory estimate; the caller has the lock. */
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
   * Returns the keywords of loose schemas that cannot be enforced, each with the schema's subject,
   * the place and the reason.
   */
  public List<String> notices() {
    return notices;
  }

  /**
   * Returns the JSON documents that a schema (draft 2020-12) allows.
   *
   * @throws GrammarException if the schema is malformed, asks for something that is not supported,
   *     cannot be met, or is too large
   */
  public static Grammar jsonSchema(String schema, Whitespace whitespace) {
    return compile(schemaSource(new SchemaSource(checked(schema)), whitespace));
  }

  /**
   * Returns the texts that a regular expression, in the syntax of Rust's regex crate, matches as a
   * whole.
   *
   * @throws GrammarException if the expression is malformed, not supported or too large
   */
  public static Grammar regex(String regex) {
    return of(new GrammarSpec(GrammarSpec.Kind.REGEX, regex));
  }

  /**
   * Returns the texts of a grammar in a subset of Lark, from its rule {@code start}; {@code %json}
   * with a schema allows JSON with any whitespace.
   *
   * @throws GrammarException if the grammar is malformed, not supported or too large
   */
  public static Grammar lark(String grammar) {
    return compile(larkSource(checked(grammar), Whitespace.ANY));
  }

  /**
   * Returns the texts of a grammar in GBNF, from its rule {@code root}.
   *
   * @throws GrammarException if the grammar is malformed or too large
   */
  public static Grammar gbnf(String grammar) {
    return of(new GrammarSpec(GrammarSpec.Kind.GBNF, grammar));
  }

  /**
   * Compiles a grammar from its source; JSON may have {@link Whitespace#SHORT}.
   *
   * @throws GrammarException if it is malformed, not supported or too large
   */
  public static Grammar of(GrammarSpec spec) {
    String text = checked(spec.text());
    Source source =
        switch (spec.kind()) {
          case JSON_SCHEMA -> schemaSource(new SchemaSource(text), Whitespace.SHORT);
          case REGEX -> (pool, findings) -> regexBook(pool, text);
          case LARK -> larkSource(text, Whitespace.SHORT);
          case GBNF -> (pool, findings) -> GbnfParser.parse(text, pool);
        };
    String before = checked(spec.before());
    return compile(
        before.isEmpty()
            ? source
            : (pool, findings) -> {
              RuleBook book = source.rules(pool, findings);
              Rule first = book.lexeme(RegexCompiler.whole(pool, before, ""));
              book.define(0, Rule.seq(first, book.body(0)));
              return book;
            });
  }

  private static Source schemaSource(SchemaSource schema, Whitespace whitespace) {
    return (pool, findings) -> {
      RuleBook book = new RuleBook(pool);
      int start = book.reserve();
      book.define(start, Rule.NOTHING);
      book.define(start, SchemaCompiler.compile(book, schema, whitespace, findings));
      return book;
    };
  }

  private static RuleBook regexBook(RegexPool pool, String regex) {
    RuleBook book = new RuleBook(pool);
    int start = book.reserve();
    book.define(start, book.lexeme(RegexCompiler.whole(pool, regex, "")));
    return book;
  }

  private static Source larkSource(String grammar, Whitespace whitespace) {
    return (pool, findings) ->
        LarkParser.parse(
            grammar,
            pool,
            (book, schema) -> SchemaCompiler.compile(book, schema, whitespace, findings));
  }

  private static String checked(String source) {
    if (source.length() > Limits.SOURCE) {
      throw GrammarException.tooLarge("it has more than " + Limits.SOURCE + " characters");
    }
    return source;
  }

  /** Returns a matcher at the start of a text, for bytes without a vocabulary. */
  public GrammarMatcher matcher() {
    return new GrammarMatcher(this, null, null);
  }

  /** Returns a matcher at the start of a reply in tokens of a vocabulary. */
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
