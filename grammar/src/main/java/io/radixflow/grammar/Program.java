package io.radixflow.grammar;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import io.radixflow.grammar.rule.LeftRecursion;
import io.radixflow.grammar.rule.Rule;
import io.radixflow.grammar.rule.RuleBook;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;

/**
 * The rules of a grammar as instructions: each reads a lexeme, calls a rule, chooses, repeats or
 * returns, and then continues at {@link #next}. Immutable; rules that derive no text are left out.
 */
final class Program {
  /** The kinds of instruction. */
  enum Op {
    LEXEME,
    CALL,
    CHOOSE,
    REPEAT,
    RETURN
  }

  static final int RETURN = 0;

  final RegexPool pool;
  final int start;
  final Op[] op;
  final int[] next;

  /** Instructions to choose from, or the instruction that is called or repeated. */
  final int[][] targets;

  final Regex[] regex;

  /** The least count of a repetition; 1 for a lexeme that may only come between other lexemes. */
  final int[] min;

  final int[] max;

  /**
   * The least number of calls that must be open at the same time before an instruction's rule
   * returns.
   */
  final int[] need;

  private Program(RegexPool pool, int start, List<Line> lines) {
    this.pool = pool;
    this.start = start;
    int size = lines.size();
    op = new Op[size];
    next = new int[size];
    targets = new int[size][];
    regex = new Regex[size];
    min = new int[size];
    max = new int[size];
    for (int pc = 0; pc < size; pc++) {
      Line line = lines.get(pc);
      op[pc] = line.op;
      next[pc] = line.next;
      targets[pc] = line.targets;
      regex[pc] = line.regex;
      min[pc] = line.min;
      max[pc] = line.max;
    }
    need = needs();
  }

  /** Seals the pool of a book and compiles its rules. */
  static Program of(RuleBook source) {
    RuleBook book = LeftRecursion.isIn(source) ? LeftRecursion.eliminate(source) : source;
    book.pool.seal();
    BitSet productive = book.productive();
    if (!productive.get(0)) {
      throw new GrammarException("unsatisfiable", "", "no text follows the grammar");
    }
    Compiler compiler = new Compiler(book, productive);
    int start = compiler.entry(0);
    compiler.finish();
    book.pool.endCompilation();
    return new Program(book.pool, start, compiler.lines);
  }

  /**
   * Returns the least needs. Instructions with the least need are visited first, as in Dijkstra's
   * algorithm.
   */
  private int[] needs() {
    int[] least = new int[op.length];
    Arrays.fill(least, Limits.STACK + 1);
    int[][] users = users();
    int[] missing = new int[op.length];
    List<Deque<Integer>> open = new ArrayList<>();
    for (int need = 0; need <= Limits.STACK; need++) {
      open.add(new ArrayDeque<>());
    }
    for (int pc = 1; pc < op.length; pc++) {
      missing[pc] = op[pc] == Op.CHOOSE ? 1 : arguments(pc).length;
    }
    open.get(0).add(RETURN);
    for (int need = 0; need <= Limits.STACK; need++) {
      while (!open.get(need).isEmpty()) {
        int pc = open.get(need).pop();
        least[pc] = need;
        for (int user : users[pc]) {
          if (--missing[user] == 0) {
            int needed = need(user, least, need);
            if (needed <= Limits.STACK) {
              open.get(needed).push(user);
            }
          }
        }
      }
    }
    return least;
  }

  /** Returns the instructions that an instruction's need depends on. */
  private int[] arguments(int pc) {
    return switch (op[pc]) {
      case LEXEME -> new int[] {next[pc]};
      case CALL -> new int[] {next[pc], targets[pc][0]};
      case REPEAT -> min[pc] == 0 ? new int[] {next[pc]} : new int[] {next[pc], targets[pc][0]};
      default -> targets[pc];
    };
  }

  /** Returns, for each instruction, the instructions whose needs depend on it. */
  private int[][] users() {
    int[] counts = new int[op.length];
    for (int pc = 1; pc < op.length; pc++) {
      for (int argument : arguments(pc)) {
        counts[argument]++;
      }
    }
    int[][] users = new int[op.length][];
    Arrays.setAll(users, pc -> new int[counts[pc]]);
    for (int pc = 1; pc < op.length; pc++) {
      for (int argument : arguments(pc)) {
        users[argument][--counts[argument]] = pc;
      }
    }
    return users;
  }

  private int need(int pc, int[] least, int leastTarget) {
    int after = least[next[pc]];
    int tail = next[pc] == RETURN ? 0 : 1;
    return switch (op[pc]) {
      case LEXEME -> Math.max(tail, after);
      case CALL -> Math.max(after, least[targets[pc][0]] + tail);
      case REPEAT -> min[pc] == 0 ? after : Math.max(after, least[targets[pc][0]] + 1);
      default -> leastTarget;
    };
  }

  private record Line(Op op, int next, int[] targets, Regex regex, int min, int max) {}

  private static final class Compiler {
    private static final int[] NONE = {};

    private final RuleBook book;
    private final BitSet productive;
    private final BitSet nullable;
    private final List<Line> lines = new ArrayList<>();
    private final int[] entries;
    private final List<Integer> open = new ArrayList<>();

    Compiler(RuleBook book, BitSet productive) {
      this.book = book;
      this.productive = productive;
      nullable = book.nullable();
      entries = new int[book.size()];
      lines.add(new Line(Op.RETURN, 0, NONE, null, 0, 0));
    }

    /**
     * Returns the first instruction of a rule. It is a choice with one alternative, so that it is
     * known before the body.
     */
    int entry(int rule) {
      if (entries[rule] == 0) {
        entries[rule] = lines.size();
        lines.add(new Line(Op.CHOOSE, RETURN, new int[1], null, 0, 0));
        open.add(rule);
      }
      return entries[rule];
    }

    void finish() {
      while (!open.isEmpty()) {
        int rule = open.remove(open.size() - 1);
        lines.get(entries[rule]).targets[0] = compile(book.body(rule), RETURN);
      }
    }

    private int add(Line line) {
      if (lines.size() > Limits.SYMBOLS) {
        throw GrammarException.tooLarge("its rules have too many symbols");
      }
      lines.add(line);
      return lines.size() - 1;
    }

    private int compile(Rule rule, int next) {
      if (rule instanceof Rule.Lexeme lexeme) {
        return add(new Line(Op.LEXEME, next, NONE, lexeme.regex(), lexeme.gap() ? 1 : 0, 0));
      }
      if (rule instanceof Rule.Ref ref) {
        return add(new Line(Op.CALL, next, new int[] {entry(ref.rule())}, null, 0, 0));
      }
      if (rule instanceof Rule.Seq seq) {
        int at = next;
        for (int i = seq.parts().size() - 1; i >= 0; i--) {
          at = compile(seq.parts().get(i), at);
        }
        return at;
      }
      if (rule instanceof Rule.Alt alt) {
        int[] targets =
            alt.parts().stream()
                .filter(part -> book.isProductive(part, productive))
                .mapToInt(part -> compile(part, next))
                .toArray();
        return targets.length == 1
            ? targets[0]
            : add(new Line(Op.CHOOSE, RETURN, targets, null, 0, 0));
      }
      return count((Rule.Count) rule, next);
    }

    private int count(Rule.Count count, int next) {
      if (count.max() == 0 || !book.isProductive(count.body(), productive)) {
        return next;
      }
      boolean empty = RuleBook.isNullable(count.body(), nullable);
      if (empty && count.max() != Regex.MANY && count.max() > 64) {
        throw GrammarException.tooLarge("a part that may be empty is repeated more than 64 times");
      }
      int body = compile(count.body(), RETURN);
      int min = empty ? 0 : count.min();
      return add(new Line(Op.REPEAT, next, new int[] {body}, null, min, count.max()));
    }
  }
}
