package io.radixflow.grammar.rule;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.text.regex.CodePoints;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads grammars in llama.cpp's GBNF. */
public final class GbnfParser {
  private final EbnfScanner scanner;
  private final RuleBook book;
  private final Map<String, Integer> rules = new HashMap<>();
  private int nested;

  private GbnfParser(String text, RegexPool pool) {
    book = new RuleBook(pool);
    scanner = new EbnfScanner(text, "#");
  }

  public static RuleBook parse(String text, RegexPool pool) {
    return new GbnfParser(text, pool).parse();
  }

  private RuleBook parse() {
    int start = book.reserve();
    Rule root = new Rule.Ref(rule("root"));
    book.define(start, root);
    while (scanner.more()) {
      String name = scanner.name("-");
      if (name == null) {
        throw scanner.error("a rule is expected");
      }
      scanner.expect("::=");
      int rule = rule(name);
      if (book.body(rule) != null) {
        throw scanner.error("the rule " + name + " is defined twice");
      }
      book.define(rule, alternatives());
    }
    for (Map.Entry<String, Integer> rule : rules.entrySet()) {
      if (book.body(rule.getValue()) == null) {
        throw scanner.error("the rule " + rule.getKey() + " is not defined");
      }
    }
    return RegularRules.fold(book);
  }

  private int rule(String name) {
    return rules.computeIfAbsent(name, n -> book.reserve());
  }

  private Rule alternatives() {
    if (++nested > Limits.GROUPS) {
      throw GrammarException.tooLarge("groups are nested more than " + Limits.GROUPS + " deep");
    }
    List<Rule> branches = new ArrayList<>();
    do {
      branches.add(sequence());
    } while (scanner.skip("|"));
    nested--;
    return branches.size() == 1 ? branches.get(0) : new Rule.Alt(branches);
  }

  private Rule sequence() {
    List<Rule> parts = new ArrayList<>();
    while (scanner.more() && !scanner.peek("|") && !scanner.peek(")") && !startsRule()) {
      Rule part = atom();
      int depth = 0;
      for (int[] count = scanner.repetition(); count != null; count = scanner.repetition()) {
        if (++depth > Limits.GROUPS) {
          throw GrammarException.tooLarge("repetitions are nested too deep");
        }
        part = new Rule.Count(part, count[0], count[1]);
      }
      parts.add(part);
    }
    return new Rule.Seq(parts);
  }

  private boolean startsRule() {
    int from = scanner.position();
    boolean starts = scanner.name("-") != null && scanner.peek("::=");
    scanner.back(from);
    return starts;
  }

  private Rule atom() {
    if (scanner.skip("\"")) {
      return book.literal(scanner.quoted());
    }
    if (scanner.skip("[")) {
      return book.lexeme(book.pool.chars(set()));
    }
    if (scanner.skip("(")) {
      Rule group = alternatives();
      scanner.expect(")");
      return group;
    }
    if (scanner.skip(".")) {
      return book.lexeme(book.pool.chars(CodePoints.ALL));
    }
    String name = scanner.name("-");
    if (name == null) {
      throw scanner.error("a text, a set, a group or a rule is expected");
    }
    return new Rule.Ref(rule(name));
  }

  private CodePoints set() {
    boolean negated = scanner.skipRaw('^');
    CodePoints set = CodePoints.NONE;
    while (!scanner.skipRaw(']')) {
      int first = scanner.character();
      int last = first;
      if (scanner.skipRaw('-')) {
        if (scanner.skipRaw(']')) {
          set = set.or(CodePoints.of(first, '-'));
          break;
        }
        last = scanner.character();
      }
      if (last < first) {
        throw scanner.error("a range ends before it begins");
      }
      set = set.or(CodePoints.range(first, last));
    }
    return negated ? set.negate() : set;
  }
}
