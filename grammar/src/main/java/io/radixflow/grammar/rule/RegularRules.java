package io.radixflow.grammar.rule;

import io.radixflow.grammar.regex.Regex;
import java.util.ArrayList;
import java.util.List;

/** Converts each rule, and each part of a rule, without recursion to one expression. */
final class RegularRules {
  private static final int MAX_DEPTH = 200;
  private static final int MAX_WEIGHT = 2_000;

  private final RuleBook book;
  private final Rule[] folded;
  private final boolean[] open;
  private int depth;

  private RegularRules(RuleBook book) {
    this.book = book;
    folded = new Rule[book.size()];
    open = new boolean[book.size()];
  }

  static RuleBook fold(RuleBook book) {
    RegularRules rules = new RegularRules(book);
    RuleBook made = new RuleBook(book.pool);
    for (int rule = 0; rule < book.size(); rule++) {
      made.reserve();
      made.define(rule, rules.rule(rule));
    }
    return made;
  }

  private Rule rule(int rule) {
    if (folded[rule] == null) {
      open[rule] = true;
      folded[rule] = fold(book.body(rule));
      open[rule] = false;
    }
    return folded[rule];
  }

  private Rule fold(Rule rule) {
    if (rule instanceof Rule.Ref ref) {
      if (open[ref.rule()] || depth > MAX_DEPTH) {
        return ref;
      }
      depth++;
      Rule body = rule(ref.rule());
      depth--;
      return regex(body) == null ? ref : body;
    }
    if (rule instanceof Rule.Seq seq) {
      return sequence(seq);
    }
    if (rule instanceof Rule.Alt alt) {
      return choice(alt);
    }
    if (rule instanceof Rule.Count count) {
      Rule body = fold(count.body());
      Regex regex = regex(body);
      return regex == null
          ? new Rule.Count(body, count.min(), count.max())
          : book.lexeme(book.pool.repeat(regex, count.min(), count.max()));
    }
    return rule;
  }

  private Rule sequence(Rule.Seq seq) {
    List<Rule> parts = new ArrayList<>();
    List<Regex> run = new ArrayList<>();
    for (Rule part : seq.parts()) {
      Rule made = fold(part);
      Regex regex = regex(made);
      if (regex != null) {
        run.add(regex);
        continue;
      }
      flush(run, parts);
      parts.add(made);
    }
    flush(run, parts);
    return parts.size() == 1 ? parts.get(0) : new Rule.Seq(parts);
  }

  private void flush(List<Regex> run, List<Rule> parts) {
    if (!run.isEmpty()) {
      parts.add(book.lexeme(book.pool.concat(run)));
      run.clear();
    }
  }

  private Rule choice(Rule.Alt alt) {
    List<Rule> parts = new ArrayList<>();
    List<Regex> regular = new ArrayList<>();
    for (Rule part : alt.parts()) {
      Rule made = fold(part);
      Regex regex = regex(made);
      if (regex == null) {
        parts.add(made);
      } else {
        regular.add(regex);
      }
    }
    if (!regular.isEmpty()) {
      parts.add(book.lexeme(book.pool.or(regular)));
    }
    return parts.size() == 1 ? parts.get(0) : new Rule.Alt(parts);
  }

  /** Returns the expression of a part, or null if the part is not regular. */
  private Regex regex(Rule rule) {
    if (rule instanceof Rule.Lexeme lexeme) {
      return lexeme.regex().weight > MAX_WEIGHT ? null : lexeme.regex();
    }
    return rule instanceof Rule.Seq seq && seq.parts().isEmpty() ? book.pool.epsilon : null;
  }
}
