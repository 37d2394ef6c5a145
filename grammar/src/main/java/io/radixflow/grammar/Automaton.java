package io.radixflow.grammar;

import io.radixflow.grammar.regex.Derivatives;
import io.radixflow.grammar.regex.FreeRun;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.regex.Limits;
import io.radixflow.grammar.regex.Regex;
import io.radixflow.grammar.regex.RegexPool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Follows a {@link Program} byte by byte. States are derived on first use and shared by all users
 * of the automaton. If there are too many, all states are dropped and {@link #epoch} changes; a
 * user with a state then feeds its text again. Not thread-safe.
 */
final class Automaton {
  private static final CallStack[] NO_STACKS = {};

  private final Program program;
  private final RegexPool pool;
  private final Derivatives derivatives;
  private final Map<CallStack, CallStack> stacks = new HashMap<>();
  private final Map<GrammarState, GrammarState> states = new HashMap<>();
  private GrammarState start;
  private int epoch;
  private long work;

  /** Frames merged so far in the current closure. */
  private int merges;

  Automaton(Program program) {
    this.program = program;
    pool = program.pool;
    derivatives = pool.derivatives;
    begin();
  }

  private void begin() {
    CallStack bottom = intern(new CallStack(true, new long[0], NO_STACKS));
    Closure closure = new Closure();
    closure.first = true;
    closure.add((long) program.start << 32, bottom);
    start = closure.state();
  }

  GrammarState start() {
    return start;
  }

  /** Returns a number that changes whenever all states are dropped. */
  int epoch() {
    return epoch;
  }

  /** Drops all states if there are too many. Call it only while no state is in use. */
  void trim() {
    if (states.size() > Limits.STATES || stacks.size() > 4 * Limits.STATES || pool.isFull()) {
      states.clear();
      stacks.clear();
      pool.shrink();
      epoch++;
      begin();
    }
  }

  /** Returns the state after one more byte; dead if the byte is not allowed. */
  GrammarState step(GrammarState state, int value) {
    if (state.row == null) {
      state.row = new GrammarState[derivatives.classCount()];
      state.work = new int[derivatives.classCount()];
    }
    int byteClass = derivatives.classOf(value);
    GrammarState known = state.row[byteClass];
    if (known == null) {
      known = derive(state, byteClass);
      state.row[byteClass] = known;
    }
    work += state.work[byteClass];
    return known;
  }

  /**
   * Returns whether {@code value} can be the next byte of a lexeme that has begun. This does not
   * count as {@link #work}. The state after the byte may still be dead if too many calls would be
   * open.
   */
  boolean goesOnWith(GrammarState state, int value) {
    int byteClass = derivatives.classOf(value);
    for (Regex lexeme : state.lexemes) {
      if (derivatives.next(lexeme, byteClass) != pool.empty) {
        return true;
      }
    }
    return false;
  }

  /** Returns the expression after one more byte of a lexeme; EMPTY if the byte is not allowed. */
  Regex step(Regex lexeme, int value) {
    work += 1 + (lexeme.cost >> 3);
    return derivatives.next(lexeme, derivatives.classOf(value));
  }

  /**
   * Returns the work of all steps so far. A step adds the same amount each time, even if its result
   * is already known. A bound therefore depends only on the grammar and the text.
   */
  long work() {
    return work;
  }

  /** Adds the work of steps whose results are already known. */
  void addWork(long more) {
    work += more;
  }

  /** Returns an estimate of the bytes that states and expressions take. */
  long bytes() {
    return pool.bytes() + (states.size() + stacks.size()) * (120L + 12L * derivatives.classCount());
  }

  /** Returns the text that is certain to be allowed next in a lexeme. */
  FreeRun freeRun(Regex lexeme) {
    return pool.freeRun(lexeme);
  }

  /** Returns an expression that equals a lexeme for texts up to a number of bytes. */
  Regex within(Regex lexeme, int bytes) {
    return derivatives.within(lexeme, bytes);
  }

  boolean isEmpty(Regex lexeme) {
    return lexeme == pool.empty;
  }

  private GrammarState derive(GrammarState state, int byteClass) {
    Closure closure = new Closure();
    for (int i = 0; i < state.lexemes.length; i++) {
      Regex next = derivatives.next(state.lexemes[i], byteClass);
      if (next == pool.empty) {
        continue;
      }
      if (next != pool.epsilon) {
        closure.config(next, state.stacks[i]);
      }
      if (next.nullable) {
        closure.unwind(state.stacks[i]);
      }
    }
    GrammarState next = closure.state();
    state.work[byteClass] = state.lexemes.length + closure.work();
    return next;
  }

  /** Returns the state after a rule has returned to these stacks. */
  GrammarState returned(CallStack stack) {
    if (stack.returned == null) {
      Closure closure = new Closure();
      closure.unwind(stack);
      stack.returned = closure.state();
      stack.returnWork = closure.work();
    }
    work += stack.returnWork;
    return stack.returned;
  }

  private CallStack intern(CallStack stack) {
    CallStack known = stacks.putIfAbsent(stack, stack);
    if (known != null) {
      return known;
    }
    stack.id = stacks.size();
    return stack;
  }

  private CallStack push(long frame, CallStack stack) {
    return intern(new CallStack(false, new long[] {frame}, new CallStack[] {stack}));
  }

  /** Returns the union of two sets of stacks. Their depth is limited, and so is the recursion. */
  private CallStack union(CallStack a, CallStack b) {
    if (a == b) {
      return a;
    }
    merges += a.frames.length + b.frames.length;
    if (merges > Limits.MERGES) {
      throw GrammarException.tooLarge("one byte can be read in too many ways");
    }
    TreeMap<Long, CallStack> merged = new TreeMap<>();
    for (int i = 0; i < a.frames.length; i++) {
      merged.put(a.frames[i], a.below[i]);
    }
    for (int i = 0; i < b.frames.length; i++) {
      CallStack below = b.below[i];
      CallStack other = merged.get(b.frames[i]);
      merged.put(b.frames[i], other == null ? below : union(other, below));
    }
    long[] frames = merged.keySet().stream().mapToLong(Long::longValue).toArray();
    return intern(new CallStack(a.bottom || b.bottom, frames, merged.values().toArray(NO_STACKS)));
  }

  /** An instruction with its count, and the open calls there. */
  private record Item(long frame, CallStack stack) {}

  /** Follows instructions until each of them reads a lexeme. */
  private final class Closure {
    private final Map<Regex, CallStack> configs = new HashMap<>();
    private final Set<Item> seen = new HashSet<>();
    private final Deque<Item> open = new ArrayDeque<>();
    private boolean accepting;

    /** Whether no byte was read yet. */
    private boolean first;

    Closure() {
      merges = 0;
    }

    /** Returns the work of all followed instructions. */
    int work() {
      return 1 + seen.size() + merges;
    }

    void config(Regex lexeme, CallStack stack) {
      configs.merge(lexeme, stack, Automaton.this::union);
    }

    void unwind(CallStack stack) {
      accepting |= stack.bottom;
      for (int i = 0; i < stack.frames.length; i++) {
        add(stack.frames[i], stack.below[i]);
      }
    }

    void add(long frame, CallStack stack) {
      if (stack.depth + program.need[(int) (frame >>> 32)] > Limits.STACK) {
        return;
      }
      Item item = new Item(frame, stack);
      if (seen.add(item)) {
        if (seen.size() > Limits.CLOSURE) {
          throw GrammarException.tooLarge("one byte can be read in too many ways");
        }
        open.push(item);
      }
    }

    GrammarState state() {
      while (!open.isEmpty()) {
        follow(open.pop());
      }
      List<Regex> lexemes = new ArrayList<>(configs.keySet());
      lexemes.sort((a, b) -> Integer.compare(a.id, b.id));
      CallStack[] open = new CallStack[lexemes.size()];
      for (int i = 0; i < open.length; i++) {
        open[i] = configs.get(lexemes.get(i));
      }
      GrammarState state = new GrammarState(lexemes.toArray(new Regex[0]), open, accepting);
      GrammarState known = states.putIfAbsent(state, state);
      return known == null ? state : known;
    }

    private void follow(Item item) {
      int pc = (int) (item.frame >>> 32);
      CallStack stack = item.stack;
      long next = (long) program.next[pc] << 32;
      switch (program.op[pc]) {
        case LEXEME:
          Regex lexeme = program.regex[pc];
          if (first && program.min[pc] == 1) {
            add(next, stack);
            break;
          }
          config(lexeme, next == 0 ? stack : push(next, stack));
          if (lexeme.nullable) {
            add(next, stack);
          }
          break;
        case CALL:
          add((long) program.targets[pc][0] << 32, next == 0 ? stack : push(next, stack));
          break;
        case CHOOSE:
          for (int target : program.targets[pc]) {
            add((long) target << 32, stack);
          }
          break;
        case REPEAT:
          repeat(pc, (int) item.frame, next, stack);
          break;
        default:
          unwind(stack);
      }
    }

    private void repeat(int pc, int done, long next, CallStack stack) {
      if (done >= program.min[pc]) {
        add(next, stack);
      }
      int max = program.max[pc];
      if (done < max) {
        int counted = max == Regex.MANY ? Math.min(done + 1, program.min[pc]) : done + 1;
        add((long) program.targets[pc][0] << 32, push((long) pc << 32 | counted, stack));
      }
    }
  }
}
