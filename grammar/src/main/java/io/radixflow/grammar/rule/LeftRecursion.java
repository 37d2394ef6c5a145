package io.radixflow.grammar.rule;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rewrites a grammar in which a rule may begin with itself, so that matching from the top down
 * ends. Each rule gets a twin without the empty text, whose productions begin with a symbol that is
 * not empty. The symbols that may follow the first symbol of a cycle of twins become rules with
 * right recursion.
 */
public final class LeftRecursion {
  private final RuleBook book;
  private final BitSet nullable;

  /** The symbols of each production of each rule. */
  private final List<List<List<Rule>>> productions = new ArrayList<>();

  private final RuleBook made;
  private final Map<Long, Integer> steps = new HashMap<>();

  private LeftRecursion(RuleBook book, RuleBook made) {
    this.book = book;
    this.made = made;
    nullable = new BitSet();
  }

  /** Returns whether a rule can come back to itself before a byte is read. */
  public static boolean isIn(RuleBook book) {
    BitSet nullable = book.nullable();
    List<List<Integer>> first = new ArrayList<>();
    for (int rule = 0; rule < book.size(); rule++) {
      List<Integer> heads = new ArrayList<>();
      heads(book.body(rule), nullable, heads);
      first.add(heads);
    }
    // Depth first with an explicit stack: 1 on the path, 2 done.
    byte[] mark = new byte[book.size()];
    int[] next = new int[book.size()];
    Deque<Integer> path = new ArrayDeque<>();
    for (int rule = 0; rule < book.size(); rule++) {
      if (mark[rule] == 0 && reachesItself(rule, first, mark, next, path)) {
        return true;
      }
    }
    return false;
  }

  /**
   * @param next for each rule, how many of its heads were followed
   * @param path an empty stack
   */
  private static boolean reachesItself(
      int start, List<List<Integer>> first, byte[] mark, int[] next, Deque<Integer> path) {
    path.push(start);
    mark[start] = 1;
    while (!path.isEmpty()) {
      int rule = path.peek();
      if (next[rule] == first.get(rule).size()) {
        mark[path.pop()] = 2;
        continue;
      }
      int child = first.get(rule).get(next[rule]++);
      if (mark[child] == 1) {
        return true;
      }
      if (mark[child] == 0) {
        mark[child] = 1;
        path.push(child);
      }
    }
    return false;
  }

  private static void heads(Rule rule, BitSet nullable, List<Integer> heads) {
    if (rule instanceof Rule.Ref ref) {
      heads.add(ref.rule());
    } else if (rule instanceof Rule.Count count) {
      heads(count.body(), nullable, heads);
    } else if (rule instanceof Rule.Alt alt) {
      alt.parts().forEach(part -> heads(part, nullable, heads));
    } else if (rule instanceof Rule.Seq seq) {
      for (Rule part : seq.parts()) {
        heads(part, nullable, heads);
        if (!RuleBook.isNullable(part, nullable)) {
          return;
        }
      }
    }
  }

  /** Returns a book without left recursion that has the same language and the same expressions. */
  public static RuleBook eliminate(RuleBook book) {
    if (book.size() > Limits.LEFT_RECURSIVE_RULES) {
      throw GrammarException.tooLarge(
          "it has left recursion and more than " + Limits.LEFT_RECURSIVE_RULES + " rules");
    }
    RuleBook made = new RuleBook(book.pool);
    new LeftRecursion(book, made).rewrite();
    return made;
  }

  private void rewrite() {
    for (int rule = 0; rule < book.size(); rule++) {
      productions.add(new ArrayList<>());
    }
    int named = book.size();
    for (int rule = 0; rule < named; rule++) {
      productions.set(rule, flatten(book.body(rule)));
    }
    findNullable();
    int count = productions.size();
    if (count > 2 * Limits.LEFT_RECURSIVE_RULES) {
      throw GrammarException.tooLarge("it has left recursion and too many rules");
    }
    // Rule r of the new book is rule r of the old one; its twin without the empty text is count +
    // r.
    for (int rule = 0; rule < 2 * count; rule++) {
      made.reserve();
    }
    List<List<List<Rule>>> twins = new ArrayList<>();
    for (int rule = 0; rule < count; rule++) {
      twins.add(twin(productions.get(rule), count));
      Rule twin = new Rule.Ref(count + rule);
      made.define(rule, nullable.get(rule) ? Rule.optional(twin) : twin);
    }
    int[] component = components(twins, count);
    for (int rule = 0; rule < count; rule++) {
      made.define(count + rule, body(rule, twins, component, count));
    }
    defineSteps(twins, component, count);
  }

  /** Returns the productions of a body; nested choices and repetitions become rules. */
  private List<List<Rule>> flatten(Rule body) {
    List<List<Rule>> all = new ArrayList<>();
    List<Rule> branches = body instanceof Rule.Alt alt ? alt.parts() : List.of(body);
    for (Rule branch : branches) {
      List<Rule> symbols = new ArrayList<>();
      for (Rule part : branch instanceof Rule.Seq seq ? seq.parts() : List.of(branch)) {
        addSymbols(part, symbols);
      }
      all.add(symbols);
    }
    return all;
  }

  private void addSymbols(Rule part, List<Rule> symbols) {
    if (part instanceof Rule.Lexeme || part instanceof Rule.Ref) {
      symbols.add(part);
    } else if (part instanceof Rule.Seq seq) {
      seq.parts().forEach(inner -> addSymbols(inner, symbols));
    } else if (part instanceof Rule.Alt) {
      symbols.add(newRule(flatten(part)));
    } else {
      addCount((Rule.Count) part, symbols);
    }
  }

  private void addCount(Rule.Count count, List<Rule> symbols) {
    Rule body = newRule(flatten(count.body()));
    if (count.min() > 64 || count.max() != Regex.MANY && count.max() > 64) {
      throw GrammarException.tooLarge("it has left recursion and counts above 64");
    }
    for (int i = 0; i < count.min(); i++) {
      symbols.add(body);
    }
    if (count.max() == Regex.MANY) {
      Rule.Ref again = newRule(new ArrayList<>());
      productions.get(again.rule()).add(List.of(body, again));
      productions.get(again.rule()).add(List.of());
      symbols.add(again);
      return;
    }
    Rule rest = null;
    for (int i = count.min(); i < count.max(); i++) {
      rest = newRule(List.of(rest == null ? List.of(body) : List.of(body, rest), List.of()));
    }
    if (rest != null) {
      symbols.add(rest);
    }
  }

  private Rule.Ref newRule(List<List<Rule>> alternatives) {
    if (productions.size() > 2 * Limits.LEFT_RECURSIVE_RULES) {
      throw GrammarException.tooLarge("it has left recursion and too many rules");
    }
    productions.add(alternatives);
    return new Rule.Ref(productions.size() - 1);
  }

  private void findNullable() {
    boolean changed = true;
    while (changed) {
      changed = false;
      for (int rule = 0; rule < productions.size(); rule++) {
        if (!nullable.get(rule)
            && productions.get(rule).stream()
                .anyMatch(p -> p.stream().allMatch(s -> RuleBook.isNullable(s, nullable)))) {
          nullable.set(rule);
          changed = true;
        }
      }
    }
  }

  private List<List<Rule>> twin(List<List<Rule>> alternatives, int count) {
    List<List<Rule>> twin = new ArrayList<>();
    for (List<Rule> production : alternatives) {
      for (int i = 0; i < production.size(); i++) {
        Rule head = production.get(i);
        List<Rule> symbols = new ArrayList<>();
        symbols.add(
            head instanceof Rule.Ref ref
                ? new Rule.Ref(count + ref.rule())
                : nonEmpty((Rule.Lexeme) head));
        symbols.addAll(production.subList(i + 1, production.size()));
        twin.add(symbols);
        if (!RuleBook.isNullable(head, nullable)) {
          break;
        }
      }
    }
    return twin;
  }

  private Rule nonEmpty(Rule.Lexeme lexeme) {
    return new Rule.Lexeme(book.pool.nonEmpty(lexeme.regex()), lexeme.gap());
  }

  /**
   * Returns, for each twin, the lowest rule that reaches the twin and is reached by it through
   * first symbols.
   */
  private static int[] components(List<List<List<Rule>>> twins, int count) {
    BitSet[] reach = new BitSet[count];
    for (int rule = 0; rule < count; rule++) {
      reach[rule] = new BitSet();
      for (List<Rule> production : twins.get(rule)) {
        if (production.get(0) instanceof Rule.Ref ref) {
          reach[rule].set(ref.rule() - count);
        }
      }
    }
    for (int middle = 0; middle < count; middle++) {
      for (int rule = 0; rule < count; rule++) {
        if (reach[rule].get(middle)) {
          reach[rule].or(reach[middle]);
        }
      }
    }
    int[] component = new int[count];
    for (int rule = 0; rule < count; rule++) {
      component[rule] = -1;
      for (int other = reach[rule].nextSetBit(0);
          other >= 0;
          other = reach[rule].nextSetBit(other + 1)) {
        if (reach[other].get(rule)) {
          component[rule] = other;
          break;
        }
      }
    }
    return component;
  }

  private Rule body(int rule, List<List<List<Rule>>> twins, int[] component, int count) {
    List<Rule> alternatives = new ArrayList<>();
    if (component[rule] < 0) {
      twins.get(rule).forEach(production -> alternatives.add(new Rule.Seq(production)));
      return new Rule.Alt(alternatives);
    }
    for (int seed = 0; seed < count; seed++) {
      if (component[seed] != component[rule]) {
        continue;
      }
      for (List<Rule> production : twins.get(seed)) {
        if (!inside(production, component, component[rule], count)) {
          List<Rule> symbols = new ArrayList<>(production);
          symbols.add(step(seed, rule));
          alternatives.add(new Rule.Seq(symbols));
        }
      }
    }
    return new Rule.Alt(alternatives);
  }

  private static boolean inside(List<Rule> production, int[] component, int of, int count) {
    return production.get(0) instanceof Rule.Ref ref && component[ref.rule() - count] == of;
  }

  /** Returns the rule for the texts that, after a text of one twin, make a text of another twin. */
  private Rule.Ref step(int from, int to) {
    return new Rule.Ref(steps.computeIfAbsent((long) from << 32 | to, key -> made.reserve()));
  }

  private void defineSteps(List<List<List<Rule>>> twins, int[] component, int count) {
    List<Long> open = new ArrayList<>(steps.keySet());
    BitSet done = new BitSet();
    while (!open.isEmpty()) {
      long key = open.remove(open.size() - 1);
      int from = (int) (key >>> 32);
      int to = (int) key;
      int id = steps.get(key);
      if (done.get(id)) {
        continue;
      }
      done.set(id);
      List<Rule> alternatives = new ArrayList<>();
      if (from == to) {
        alternatives.add(Rule.NOTHING);
      }
      for (int rule = 0; rule < count; rule++) {
        for (List<Rule> production : twins.get(rule)) {
          if (component[rule] == component[from]
              && production.get(0) instanceof Rule.Ref ref
              && ref.rule() - count == from) {
            List<Rule> symbols = new ArrayList<>(production.subList(1, production.size()));
            symbols.add(step(rule, to));
            open.add((long) rule << 32 | to);
            alternatives.add(new Rule.Seq(symbols));
          }
        }
      }
      made.define(id, new Rule.Alt(alternatives));
    }
  }
}
