package io.radixflow.kernels.grammar.rule;

import io.radixflow.kernels.grammar.regex.GrammarException;
import io.radixflow.kernels.grammar.regex.Limits;
import io.radixflow.kernels.grammar.regex.Regex;
import io.radixflow.kernels.grammar.regex.RegexPool;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Predicate;

/** The rules of a grammar while it is compiled; rule 0 is the start. Not thread-safe. */
public final class RuleBook {
  public final RegexPool pool;
  private final List<Rule> bodies = new ArrayList<>();
  private int symbols;

  public RuleBook(RegexPool pool) {
    this.pool = pool;
  }

  /** Adds a rule whose body is set later. */
  public int reserve() {
    if (bodies.size() >= Limits.RULES) {
      throw GrammarException.tooLarge("it has more than " + Limits.RULES + " rules");
    }
    bodies.add(null);
    return bodies.size() - 1;
  }

  public void define(int rule, Rule body) {
    symbols += size(body);
    if (symbols > Limits.SYMBOLS) {
      throw GrammarException.tooLarge("its rules have more than " + Limits.SYMBOLS + " symbols");
    }
    bodies.set(rule, body);
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

  /** The rules that derive a text. Needs byte classes. */
  public BitSet productive() {
    return fixpoint(pool::isAlive);
  }

  public boolean isProductive(Rule rule, BitSet productive) {
    return holds(rule, pool::isAlive, productive);
  }

  /** The rules that derive the empty text. */
  public BitSet nullable() {
    return fixpoint(regex -> regex.nullable);
  }

  public static boolean isNullable(Rule rule, BitSet nullable) {
    return holds(rule, regex -> regex.nullable, nullable);
  }

  /** The rules for which a property of expressions holds by sequence and choice. */
  private BitSet fixpoint(Predicate<Regex> property) {
    BitSet holding = new BitSet();
    boolean changed = true;
    for (boolean up = false; changed; up = !up) {
      changed = false;
      for (int i = 0; i < bodies.size(); i++) {
        int rule = up ? i : bodies.size() - 1 - i;
        if (!holding.get(rule) && holds(bodies.get(rule), property, holding)) {
          holding.set(rule);
          changed = true;
        }
      }
    }
    return holding;
  }

  private static boolean holds(Rule rule, Predicate<Regex> property, BitSet known) {
    if (rule instanceof Rule.Lexeme lexeme) {
      return property.test(lexeme.regex());
    }
    if (rule instanceof Rule.Ref ref) {
      return known.get(ref.rule());
    }
    if (rule instanceof Rule.Count count) {
      return count.min() == 0 || holds(count.body(), property, known);
    }
    if (rule instanceof Rule.Seq seq) {
      return seq.parts().stream().allMatch(part -> holds(part, property, known));
    }
    return ((Rule.Alt) rule).parts().stream().anyMatch(part -> holds(part, property, known));
  }
}
