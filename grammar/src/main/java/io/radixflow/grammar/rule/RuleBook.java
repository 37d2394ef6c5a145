package io.radixflow.grammar.rule;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;

/** The rules of a grammar while it is compiled; rule 0 is the start. Not thread-safe. */
public final class RuleBook {
  public final RegexPool pool;
  private final List<Rule> bodies = new ArrayList<>();
  private int symbols;

  /** The last result of {@link #nullable()}; null after a change. */
  private BitSet nullable;

  public RuleBook(RegexPool pool) {
    this.pool = pool;
  }

  /** Adds a rule whose body is set later. */
  public int reserve() {
    if (bodies.size() >= Limits.RULES) {
      throw GrammarException.tooLarge("it has more than " + Limits.RULES + " rules");
    }
    bodies.add(null);
    nullable = null;
    return bodies.size() - 1;
  }

  public void define(int rule, Rule body) {
    symbols += size(body);
    if (symbols > Limits.SYMBOLS) {
      throw GrammarException.tooLarge("its rules have more than " + Limits.SYMBOLS + " symbols");
    }
    bodies.set(rule, body);
    nullable = null;
  }

  public Rule.Ref add(Rule body) {
    int rule = reserve();
    define(rule, body);
    return new Rule.Ref(rule);
  }

  private static int size(Rule rule) {
    int size = 1;
    if (rule instanceof Rule.Seq seq) {
      for (Rule part : seq.parts()) {
        size += size(part);
      }
    } else if (rule instanceof Rule.Alt alt) {
      for (Rule part : alt.parts()) {
        size += size(part);
      }
    } else if (rule instanceof Rule.Count count) {
      size += size(count.body());
    }
    return size;
  }

  public int size() {
    return bodies.size();
  }

  public Rule body(int rule) {
    return bodies.get(rule);
  }

  public Rule lexeme(Regex regex) {
    return regex == pool.epsilon ? Rule.NOTHING : new Rule.Lexeme(regex, false);
  }

  public Rule literal(String text) {
    return lexeme(pool.text(text));
  }

  /** Returns the rules that derive a text. Needs byte classes. */
  public BitSet productive() {
    return fixpoint(pool.liveness::isAlive, new BitSet());
  }

  /** Returns one of {@code some} rules that derives a text; -1 if none does. Needs byte classes. */
  public int productiveOf(BitSet some) {
    BitSet found = fixpoint(pool.liveness::isAlive, some);
    found.and(some);
    return found.nextSetBit(0);
  }

  public boolean isProductive(Rule rule, BitSet productive) {
    return holds(rule, pool.liveness::isAlive, productive);
  }

  /** Returns the rules that derive the empty text. */
  public BitSet nullable() {
    if (nullable == null) {
      nullable = fixpoint(regex -> regex.nullable, new BitSet());
    }
    return nullable;
  }

  public static boolean isNullable(Rule rule, BitSet nullable) {
    return holds(rule, regex -> regex.nullable, nullable);
  }

  /**
   * Returns the rules for which a property of expressions holds by sequence and choice.
   *
   * @param enough the search ends when one of these rules is found; then the result for other rules
   *     may be incomplete
   */
  private BitSet fixpoint(Predicate<Regex> property, BitSet enough) {
    BitSet holding = new BitSet();
    List<List<Integer>> waiting = new ArrayList<>(Collections.nCopies(bodies.size(), null));
    Deque<Integer> open = new ArrayDeque<>();
    for (int rule = 0; rule < bodies.size(); rule++) {
      open.add(rule); // most rules refer to earlier ones
    }
    while (!open.isEmpty()) {
      int rule = open.pop();
      if (holding.get(rule)) {
        continue;
      }
      List<Integer> missing = new ArrayList<>();
      if (!holds(bodies.get(rule), property, holding, missing)) {
        for (int other : missing) {
          List<Integer> waiters = waiting.get(other);
          if (waiters == null) {
            waiters = new ArrayList<>();
            waiting.set(other, waiters);
          }
          waiters.add(rule);
        }
        continue;
      }
      holding.set(rule);
      if (enough.get(rule)) {
        break;
      }
      if (waiting.get(rule) != null) {
        waiting.get(rule).forEach(open::push);
      }
    }
    return holding;
  }

  private static boolean holds(Rule rule, Predicate<Regex> property, BitSet known) {
    return holds(rule, property, known, new ArrayList<>());
  }

  /**
   * Returns whether a property holds for a part of a rule.
   *
   * @param missing receives rules, one of which must hold first, if the property does not hold
   */
  private static boolean holds(
      Rule rule, Predicate<Regex> property, BitSet known, List<Integer> missing) {
    if (rule instanceof Rule.Lexeme lexeme) {
      return property.test(lexeme.regex());
    }
    if (rule instanceof Rule.Ref ref) {
      if (!known.get(ref.rule())) {
        missing.add(ref.rule());
      }
      return known.get(ref.rule());
    }
    if (rule instanceof Rule.Count count) {
      return count.min() == 0 || holds(count.body(), property, known, missing);
    }
    boolean every = rule instanceof Rule.Seq;
    List<Rule> parts = every ? ((Rule.Seq) rule).parts() : ((Rule.Alt) rule).parts();
    for (Rule part : parts) {
      if (holds(part, property, known, missing) != every) {
        return !every;
      }
    }
    return every;
  }
}
