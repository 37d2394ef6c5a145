package io.radixflow.grammar.rule;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexCompiler;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.text.regex.CodePoints;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads grammars in the subset of Lark that docs/grammar.md describes. */
public final class LarkParser {
  private static final Map<String, String> COMMON =
      Map.ofEntries(
          Map.entry("DIGIT", "[0-9]"),
          Map.entry("HEXDIGIT", "[a-fA-F0-9]"),
          Map.entry("INT", "[0-9]+"),
          Map.entry("SIGNED_INT", "[+-]?[0-9]+"),
          Map.entry("DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"),
          Map.entry("FLOAT", "[0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?"),
          Map.entry(
              "SIGNED_FLOAT",
              "[+-]?([0-9]+[eE][+-]?[0-9]+|([0-9]+\\.[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?)"),
          Map.entry("NUMBER", "([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?"),
          Map.entry("SIGNED_NUMBER", "[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?"),
          Map.entry("ESCAPED_STRING", "\"([^\"\\\\\\n]|\\\\.)*\""),
          Map.entry("LCASE_LETTER", "[a-z]"),
          Map.entry("UCASE_LETTER", "[A-Z]"),
          Map.entry("LETTER", "[A-Za-z]"),
          Map.entry("WORD", "[A-Za-z]+"),
          Map.entry("CNAME", "[_A-Za-z][_A-Za-z0-9]*"),
          Map.entry("WS_INLINE", "[ \\t]+"),
          Map.entry("WS", "[ \\t\\f\\r\\n]+"),
          Map.entry("CR", "\\r"),
          Map.entry("LF", "\\n"),
          Map.entry("NEWLINE", "(\\r?\\n)+"),
          Map.entry("SH_COMMENT", "#[^\\n]*"),
          Map.entry("CPP_COMMENT", "//[^\\n]*"),
          Map.entry("SQL_COMMENT", "--[^\\n]*"));

  /** Compiles the schema after {@code %json} or {@code %text} into the rules of a grammar. */
  public interface Schemas {
    Rule compile(RuleBook book, SchemaSource schema);
  }

  private final EbnfScanner scanner;
  private final Schemas schemas;

  /** The rules of the schemas. */
  private final Map<SchemaSource, Rule> values = new LinkedHashMap<>();

  private final RuleBook book;

  /** Parsed bodies. Names in the bodies of terminals are not resolved yet. */
  private final Map<String, Tree> bodies = new HashMap<>();

  private final List<Tree> ignored = new ArrayList<>();
  private final Map<String, Regex> terminals = new HashMap<>();
  private final Set<String> openTerminals = new HashSet<>();
  private final Map<String, Integer> rules = new HashMap<>();

  /** Rules whose bodies are not compiled yet. */
  private final Deque<String> open = new ArrayDeque<>();

  private int nested;

  /** The ignored text that may precede each lexeme of a rule. */
  private Rule skipped = Rule.NOTHING;

  private LarkParser(String text, RegexPool pool, Schemas schemas) {
    book = new RuleBook(pool);
    this.schemas = schemas;
    scanner = new EbnfScanner(text, "//");
  }

  public static RuleBook parse(String text, RegexPool pool, Schemas schemas) {
    return new LarkParser(text, pool, schemas).parse();
  }

  /** A part of a body: a lexeme, a name, or an operator over parts. */
  private record Tree(
      char kind,
      String name,
      SchemaSource schema,
      Regex regex,
      List<Tree> parts,
      int min,
      int max) {
    Tree(char kind, String name, Regex regex, List<Tree> parts, int min, int max) {
      this(kind, name, null, regex, parts, min, max);
    }

    static Tree of(Regex regex) {
      return new Tree('x', null, regex, List.of(), 0, 0);
    }

    static Tree of(char kind, List<Tree> parts) {
      return parts.size() == 1 ? parts.get(0) : new Tree(kind, null, null, parts, 0, 0);
    }
  }

  private RuleBook parse() {
    while (scanner.more()) {
      if (scanner.skip("%")) {
        directive();
      } else {
        definition();
      }
    }
    if (!bodies.containsKey("start")) {
      throw new GrammarException("grammar", "", "the grammar has no rule start");
    }
    if (!ignored.isEmpty()) {
      Regex any = book.pool.or(ignored.stream().map(this::regular).toList());
      skipped = new Rule.Lexeme(book.pool.repeat(any, 0, Regex.MANY), true);
    }
    int start = book.reserve();
    book.define(start, Rule.NOTHING);
    values.replaceAll((schema, none) -> schemas.compile(book, schema));
    Rule.Ref first = ref("start");
    book.define(start, first);
    while (!open.isEmpty()) {
      String name = open.pop();
      book.define(rules.get(name), rule(body(name)));
    }
    return skipped == Rule.NOTHING ? RegularRules.fold(book) : book;
  }

  private void directive() {
    String word = scanner.name("");
    if ("ignore".equals(word)) {
      ignored.add(alternatives());
    } else if ("import".equals(word)) {
      imported();
    } else {
      throw scanner.error("%" + word + " is not supported");
    }
  }

  private void imported() {
    String module = scanner.name("");
    if (!"common".equals(module)) {
      throw scanner.error("only terminals of common can be imported");
    }
    if (scanner.skip(".")) {
      String name = scanner.name("");
      define(scanner.skip("->") ? scanner.name("") : name, common(name));
      return;
    }
    scanner.expect("(");
    do {
      String name = scanner.name("");
      define(name, common(name));
    } while (scanner.skip(","));
    scanner.expect(")");
  }

  private Tree common(String name) {
    String regex = name == null ? null : COMMON.get(name);
    if (regex == null) {
      throw scanner.error("common has no terminal " + name);
    }
    return Tree.of(RegexCompiler.whole(book.pool, regex, ""));
  }

  private void definition() {
    while (scanner.skip("?") || scanner.skip("!")) {
      continue;
    }
    String name = scanner.name("");
    if (name == null) {
      throw scanner.error("a rule is expected");
    }
    if (scanner.skip(".")) {
      scanner.skip("-");
      scanner.number();
    }
    scanner.expect(":");
    define(name, alternatives());
  }

  private void define(String name, Tree body) {
    if (name == null || bodies.put(name, body) != null) {
      throw scanner.error("the rule " + name + " is defined twice or has no name");
    }
  }

  private Tree alternatives() {
    if (++nested > Limits.GROUPS) {
      throw GrammarException.tooLarge("groups are nested more than " + Limits.GROUPS + " deep");
    }
    List<Tree> branches = new ArrayList<>();
    do {
      branches.add(sequence());
    } while (scanner.skip("|"));
    nested--;
    return Tree.of('|', branches);
  }

  private Tree sequence() {
    List<Tree> parts = new ArrayList<>();
    while (scanner.more() && !ends()) {
      Tree part = atom();
      int depth = 0;
      for (int[] count = repetition(); count != null; count = repetition()) {
        if (++depth > Limits.GROUPS) {
          throw GrammarException.tooLarge("repetitions are nested too deep");
        }
        part = new Tree('*', null, null, List.of(part), count[0], count[1]);
      }
      parts.add(part);
    }
    if (scanner.skip("->")) {
      scanner.name("");
    }
    return Tree.of(',', parts);
  }

  private int[] repetition() {
    if (!scanner.skip("~")) {
      // A question mark at the start of a line belongs to the next rule.
      return startsDefinition() ? null : scanner.repetition();
    }
    int min = scanner.number();
    return scanner.checked(min, scanner.skip("..") ? scanner.number() : min);
  }

  private boolean ends() {
    return scanner.peek("|")
        || scanner.peek(")")
        || scanner.peek("]")
        || scanner.peek("->")
        || scanner.peek("%") && !scanner.peek("%json") && !scanner.peek("%text")
        || startsDefinition();
  }

  private boolean startsDefinition() {
    if (!scanner.isAtLineStart()) {
      return false;
    }
    int from = scanner.position();
    while (scanner.skip("?") || scanner.skip("!")) {
      continue;
    }
    boolean starts = scanner.name("") != null;
    if (starts && scanner.peek(".") && !scanner.peek("..")) {
      scanner.skip(".");
      scanner.skip("-");
      scanner.letters("0123456789");
    }
    starts &= scanner.peek(":");
    scanner.back(from);
    return starts;
  }

  private Tree atom() {
    if (scanner.skip("\"")) {
      return text();
    }
    if (scanner.skip("/")) {
      String source = scanner.slashed();
      String flags = scanner.letters("imslux");
      if (flags.indexOf('m') >= 0 || flags.indexOf('l') >= 0) {
        throw scanner.error("the flags m and l of a regular expression are not supported");
      }
      return Tree.of(RegexCompiler.whole(book.pool, source, flags));
    }
    boolean json = scanner.skip("%json");
    if (json || scanner.skip("%text")) {
      SchemaSource schema = schema(json);
      values.put(schema, Rule.NOTHING);
      return new Tree('j', null, schema, null, List.of(), 0, 0);
    }
    if (scanner.skip("(")) {
      Tree group = alternatives();
      scanner.expect(")");
      return group;
    }
    if (scanner.skip("[")) {
      Tree group = alternatives();
      scanner.expect("]");
      return new Tree('*', null, null, List.of(group), 0, 1);
    }
    String name = scanner.name("");
    if (name == null) {
      throw scanner.error("a text, an expression, a group or a name is expected");
    }
    return new Tree('n', name, null, List.of(), 0, 0);
  }

  /**
   * A schema after {@code %json} or {@code %text}: perhaps a question mark, if it is loose; perhaps
   * a text that names it in errors, with its pointer within a larger schema after a hash; after
   * {@code %text} the mark that ends the value; then the schema.
   */
  private SchemaSource schema(boolean json) {
    boolean loose = scanner.skipRaw('?');
    String name = json ? scanner.skip("\"") ? scanner.quoted() : "" : quoted();
    String end = json ? "" : quoted();
    int hash = name.indexOf('#');
    String subject = hash < 0 ? name : name.substring(0, hash);
    String base = hash < 0 ? "" : name.substring(hash + 1);
    return new SchemaSource(scanner.object(), subject, base, loose, end);
  }

  private String quoted() {
    scanner.expect("\"");
    return scanner.quoted();
  }

  /** Reads a text after its quote, with the flag directly after it, or a range of two texts. */
  private Tree text() {
    String value = scanner.quoted();
    if (scanner.skipRaw('i')) {
      List<Regex> chars = new ArrayList<>();
      value.codePoints().forEach(c -> chars.add(book.pool.chars(CodePoints.of(c).foldCase())));
      return Tree.of(book.pool.concat(chars));
    }
    if (!scanner.skip("..")) {
      return Tree.of(book.pool.text(value));
    }
    scanner.expect("\"");
    String last = scanner.quoted();
    if (value.codePointCount(0, value.length()) != 1
        || last.codePointCount(0, last.length()) != 1) {
      throw scanner.error("a range needs single characters");
    }
    CodePoints range = CodePoints.range(value.codePointAt(0), last.codePointAt(0));
    return Tree.of(book.pool.chars(range));
  }

  // ---- bodies to rules ----

  private Rule.Ref ref(String name) {
    Integer known = rules.get(name);
    if (known == null) {
      known = book.reserve();
      rules.put(name, known);
      open.add(name);
    }
    return new Rule.Ref(known);
  }

  private Tree body(String name) {
    Tree body = bodies.get(name);
    if (body == null) {
      throw new GrammarException(
          "grammar", "", "the grammar is invalid: " + name + " is not defined");
    }
    return body;
  }

  private static boolean isTerminal(String name) {
    return name.equals(name.toUpperCase(java.util.Locale.ROOT));
  }

  private Rule rule(Tree tree) {
    return switch (tree.kind) {
      case 'x' -> terminal(tree.regex);
      case 'j' -> values.get(tree.schema);
      case 'n' -> isTerminal(tree.name) ? terminal(terminal(tree.name)) : ref(tree.name);
      case '|' -> new Rule.Alt(tree.parts.stream().map(this::rule).toList());
      case ',' -> new Rule.Seq(tree.parts.stream().map(this::rule).toList());
      default -> new Rule.Count(rule(tree.parts.get(0)), tree.min, tree.max);
    };
  }

  private Rule terminal(Regex regex) {
    return skipped == Rule.NOTHING ? book.lexeme(regex) : Rule.seq(skipped, book.lexeme(regex));
  }

  private Regex terminal(String name) {
    Regex known = terminals.get(name);
    if (known == null) {
      if (!openTerminals.add(name)) {
        throw new GrammarException("grammar", "", "the terminal " + name + " refers to itself");
      }
      if (openTerminals.size() > Limits.GROUPS) {
        throw GrammarException.tooLarge("terminals refer to each other too deep");
      }
      known = regular(body(name));
      openTerminals.remove(name);
      terminals.put(name, known);
    }
    return known;
  }

  private Regex regular(Tree tree) {
    switch (tree.kind) {
      case 'x':
        return tree.regex;
      case 'j':
        throw new GrammarException("grammar", "", "a terminal has a schema");
      case 'n':
        if (!isTerminal(tree.name)) {
          throw new GrammarException("grammar", "", "a terminal refers to the rule " + tree.name);
        }
        return terminal(tree.name);
      case '|':
        return book.pool.or(tree.parts.stream().map(this::regular).toList());
      case ',':
        return book.pool.concat(tree.parts.stream().map(this::regular).toList());
      default:
        return book.pool.repeat(regular(tree.parts.get(0)), tree.min, tree.max);
    }
  }
}
