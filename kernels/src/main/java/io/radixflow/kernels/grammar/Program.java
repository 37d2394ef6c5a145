package io.radixflow.kernels.grammar;

import io.radixflow.kernels.grammar.regex.GrammarException;
import io.radixflow.kernels.grammar.regex.Limits;
import io.radixflow.kernels.grammar.regex.Regex;
import io.radixflow.kernels.grammar.regex.RegexPool;
import io.radixflow.kernels.grammar.rule.LeftRecursion;
import io.radixflow.kernels.grammar.rule.Rule;
import io.radixflow.kernels.grammar.rule.RuleBook;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The rules of a grammar as instructions: each reads a lexeme, calls a rule, chooses, repeats or
 * returns, then goes on at {@link #next}. Immutable; what derives no text is left out.
 */
final class Program {
  /** What an instruction does. */
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

  /** Instructions to choose from, or the one that is called or repeated. */
  final int[][] targets;

  final Regex[] regex;

  /** The least count of a repetition; 1 for a lexeme that stands between others only. */
  final int[] min;

  final int[] max;

  /**
   * The least number of calls that have to be open at once before an instruction's rule returns.
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
    return new Program(book.pool, start, compiler.lines);
  }

  private int[] needs() {
    int[] least = new int[op.length];
    java.util.Arrays.fill(least, 1, least.length, Limits.STACK + 1);
    boolean changed = true;
    for (boolean up = true; changed; up = !up) {
      changed = false;
      for (int i = 1; i < op.length; i++) {
        int pc = up ? i : op.length - i;
        int now = Math.min(least[pc], need(pc, least));
        changed |= now != least[pc];
        least[pc] = now;
      }
    }
    return least;
  }

  private int need(int pc, int[] least) {
    int after = least[next[pc]];
    int tail = next[pc] == RETURN ? 0 : 1;
    switch (op[pc]) {
      case LEXEME:
        return Math.max(tail, after);
      case CALL:
        return Math.max(after, least[targets[pc][0]] + tail);
      case REPEAT:
        return min[pc] == 0 ? after : Math.max(after, least[targets[pc][0]] + 1);
      default:
        int best = Limits.STACK + 1;
        for (int target : targets[pc]) {
          best = Math.min(best, least[target]);
        }
        return best;
    }
  }

  /** One instruction. */
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

    /** The first instruction of a rule: a choice of one, so that it is known before the body. */
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
