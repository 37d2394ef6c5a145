package io.radixflow.grammar.regex;

import io.radixflow.grammar.regex.Regex.Kind;
import io.radixflow.text.regex.CodePoints;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Makes and interns {@link Regex} nodes. Equal expressions are the same object. Owned by one
 * grammar; not thread-safe.
 */
public final class RegexPool {
  static final Regex[] NO_PARTS = {};
  private static final int[] NO_EDGES = {};
  private static final Comparator<Regex> BY_ID = (a, b) -> Integer.compare(a.id, b.id);

  public final Regex empty;
  public final Regex epsilon;

  /** Every text of bytes. */
  final Regex all;

  final Regex anyCharacter;

  /** Every text of whole characters. */
  public final Regex anyText;

  private final Map<Regex, Regex> interned = new HashMap<>();
  private final Map<CodePoints, Regex> characters = new HashMap<>();

  /** Expressions by their source, which schemas often repeat. */
  private final Map<Object, Regex> parsed = new HashMap<>();

  private final Utf8Leaves utf8 = new Utf8Leaves(this);
  private final FreeRuns freeRuns;
  private int nextId;
  private int loops;

  /** The expressions made from the grammar's source, without the expressions that matching adds. */
  private final List<Regex> source = new ArrayList<>();

  /** Whether {@link #source} is complete, so that only derivatives are added. */
  private boolean sealed;

  private boolean compiled;

  private final Work work;

  /** The derivatives of expressions: the remaining texts after a byte. */
  public final Derivatives derivatives;

  /** Decides which expressions match any text. */
  public final Liveness liveness;

  public RegexPool() {
    this(new Work());
  }

  /**
   * @param work counts the work of compiling
   */
  public RegexPool(Work work) {
    this.work = work;
    empty = intern(new Regex(Kind.EMPTY, NO_PARTS, NO_EDGES, 0, 0, 0));
    Regex nothing = new Regex(Kind.EPSILON, NO_PARTS, NO_EDGES, 0, 0, 0);
    nothing.nullable = true;
    epsilon = intern(nothing);
    epsilon.aligned = true;
    all = not(empty);
    anyCharacter = chars(CodePoints.ALL);
    anyText = repeat(anyCharacter, 0, Regex.MANY);
    freeRuns = new FreeRuns(anyCharacter);
    derivatives = new Derivatives(this);
    liveness = derivatives.liveness;
  }

  /** Counts work while the grammar is compiled. */
  public void spend(long amount) {
    if (!compiled) {
      work.spend(amount);
    }
  }

  // ---- building ----

  /** Returns the expression of a source, which is parsed once. */
  Regex parsed(Object source, Supplier<Regex> parser) {
    Regex known = parsed.get(source);
    if (known == null) {
      known = parser.get();
      parsed.put(source, known);
    }
    return known;
  }

  /** Divides bytes into classes. After this only derivatives are added. */
  public void seal() {
    if (!sealed) {
      derivatives.divideBytes(source);
      sealed = true;
    }
  }

  /** Ends the time in which all searches share one bound. */
  public void endCompilation() {
    compiled = true;
    liveness.endCompilation();
    parsed.clear();
  }

  /** Returns an estimate of the bytes that all nodes take. */
  public long bytes() {
    return interned.size() * (160L + 2L * derivatives.classCount());
  }

  /** Returns whether matching has added more nodes than may be kept. */
  public boolean isFull() {
    return interned.size() > source.size() + Limits.DERIVED_NODES;
  }

  /** Drops everything that derivatives have added, so that a grammar can be extended. */
  public void reopen() {
    shrink();
    derivatives.forgetClasses();
    sealed = false;
  }

  /** Drops everything that matching has added. */
  public void shrink() {
    interned.clear();
    for (Regex node : source) {
      node.row = null;
      interned.put(node, node);
    }
  }

  private Regex intern(Regex node) {
    spend(1 + node.parts.length);
    Regex known = interned.get(node);
    if (known != null) {
      return known;
    }
    if (!sealed && interned.size() >= Limits.NODES) {
      throw GrammarException.tooLarge("its expressions have more than " + Limits.NODES + " parts");
    }
    node.id = nextId++;
    Measures.measure(node);
    if (node.depth > Limits.DEPTH) {
      throw GrammarException.tooLarge("an expression has more than " + Limits.DEPTH + " levels");
    }
    if (node.weight > Limits.WEIGHT) {
      throw GrammarException.tooLarge("an expression has more than " + Limits.WEIGHT + " parts");
    }
    interned.put(node, node);
    if (!sealed) {
      source.add(node);
    }
    return node;
  }

  /** Returns a node that reads one byte by its edges; each edge leads to one of {@code parts}. */
  Regex leaf(boolean nullable, int[] edges, Regex[] parts) {
    if (parts.length == 0) {
      return nullable ? epsilon : empty;
    }
    Regex node = new Regex(Kind.LEAF, parts, edges, 0, 0, 0);
    node.nullable = nullable;
    return intern(node);
  }

  /** One character of a set, in UTF-8. */
  /** One character of a set; surrogates are not characters. */
  public Regex chars(CodePoints set) {
    CodePoints scalars = set.and(CodePoints.SCALARS);
    Regex known = characters.get(scalars);
    if (known == null) {
      if (characters.size() >= Limits.CHARACTER_SETS) {
        throw GrammarException.tooLarge(
            "it has more than " + Limits.CHARACTER_SETS + " different sets of characters");
      }
      known = aligned(utf8.characters(scalars));
      characters.put(scalars, known);
    }
    return known;
  }

  public Regex text(String text) {
    return aligned(utf8.text(text));
  }

  /** Marks a leaf whose matches are whole texts; its bytes do not show that. */
  private static Regex aligned(Regex node) {
    node.aligned = true;
    return node;
  }

  /** Returns an automaton that matches any of some texts. */
  public Regex texts(Collection<String> texts) {
    return texts.isEmpty() ? empty : aligned(utf8.texts(texts));
  }

  public Regex concat(Regex first, Regex second) {
    if (first == empty || second == empty) {
      return empty;
    }
    if (first == epsilon) {
      return second;
    }
    if (second == epsilon) {
      return first;
    }
    if (first.kind == Kind.CONCAT) {
      return concat(first.parts[0], concat(first.parts[1], second));
    }
    Regex node = new Regex(Kind.CONCAT, new Regex[] {first, second}, NO_EDGES, 0, 0, 0);
    node.nullable = first.nullable && second.nullable;
    return intern(node);
  }

  public Regex concat(List<Regex> parts) {
    Regex made = epsilon;
    for (int i = parts.size() - 1; i >= 0; i--) {
      made = concat(parts.get(i), made);
    }
    return made;
  }

  public Regex or(List<Regex> parts) {
    return or(parts.toArray(NO_PARTS));
  }

  public Regex or(Regex... parts) {
    Regex[] flat = flat(parts, Kind.OR, empty);
    if (has(flat, all)) {
      return all;
    }
    if (anyText != null && has(flat, anyText)) {
      flat = without(flat, part -> part.aligned && part != anyText);
    }
    return combine(Kind.OR, flat, empty);
  }

  public Regex and(Regex... parts) {
    Regex[] flat = flat(parts, Kind.AND, all);
    if (has(flat, empty)) {
      return empty;
    }
    if (has(flat, epsilon)) {
      return allNullable(flat) ? epsilon : empty;
    }
    if (flat.length > 1 && has(flat, anyText)) {
      Regex[] rest = without(flat, part -> part == anyText);
      for (Regex part : rest) {
        flat = part.aligned ? rest : flat;
      }
    }
    return combine(Kind.AND, flat, all);
  }

  private static boolean has(Regex[] parts, Regex wanted) {
    for (Regex part : parts) {
      if (part == wanted) {
        return true;
      }
    }
    return false;
  }

  private static Regex[] without(Regex[] parts, Predicate<Regex> dropped) {
    return Arrays.stream(parts).filter(dropped.negate()).toArray(Regex[]::new);
  }

  /** Returns the parts of a union or an intersection, ordered by id. */
  private static Regex[] flat(Regex[] parts, Kind kind, Regex neutral) {
    int count = 0;
    for (Regex part : parts) {
      count += part.kind == kind ? part.parts.length : 1;
    }
    Regex[] flat = new Regex[count];
    count = 0;
    boolean sorted = true;
    for (Regex part : parts) {
      for (Regex each : part.kind == kind ? part.parts : new Regex[] {part}) {
        if (each != neutral) {
          sorted &= count == 0 || flat[count - 1].id < each.id;
          flat[count++] = each;
        }
      }
    }
    if (sorted) {
      return count == flat.length ? flat : Arrays.copyOf(flat, count);
    }
    Arrays.sort(flat, 0, count, BY_ID);
    int distinct = 0;
    for (int i = 0; i < count; i++) {
      if (distinct == 0 || flat[distinct - 1] != flat[i]) {
        flat[distinct++] = flat[i];
      }
    }
    return Arrays.copyOf(flat, distinct);
  }

  private Regex combine(Kind kind, Regex[] parts, Regex none) {
    if (parts.length < 2) {
      return parts.length == 0 ? none : parts[0];
    }
    Regex node = new Regex(kind, parts, NO_EDGES, 0, 0, 0);
    node.nullable = kind == Kind.OR ? anyNullable(parts) : allNullable(parts);
    return intern(node);
  }

  private static boolean anyNullable(Regex[] parts) {
    for (Regex part : parts) {
      if (part.nullable) {
        return true;
      }
    }
    return false;
  }

  private static boolean allNullable(Regex[] parts) {
    for (Regex part : parts) {
      if (!part.nullable) {
        return false;
      }
    }
    return true;
  }

  public Regex not(Regex part) {
    if (part.kind == Kind.NOT) {
      return part.parts[0];
    }
    Regex node = new Regex(Kind.NOT, new Regex[] {part}, NO_EDGES, 0, 0, 0);
    node.nullable = !part.nullable;
    return intern(node);
  }

  public Regex repeat(Regex part, int min, int max) {
    if (part == empty) {
      return min == 0 ? epsilon : empty;
    }
    if (max == 0 || part == epsilon) {
      return epsilon;
    }
    if (min == 1 && max == 1) {
      return part;
    }
    boolean star = part.kind == Kind.REPEAT && part.min == 0 && part.max == Regex.MANY;
    if (star) {
      return part;
    }
    int least = part.nullable ? 0 : min;
    Regex node = new Regex(Kind.REPEAT, new Regex[] {part}, NO_EDGES, least, max, 0);
    node.nullable = least == 0;
    return intern(node);
  }

  public Regex optional(Regex part) {
    return or(epsilon, part);
  }

  /** Returns the texts of a language without the empty text. */
  public Regex nonEmpty(Regex part) {
    if (part.kind == Kind.REPEAT && part.min == 0 && !part.parts[0].nullable) {
      return repeat(part.parts[0], 1, part.max);
    }
    return part.nullable ? and(part, not(epsilon)) : part;
  }

  /**
   * Returns a part any number of times, then {@code after}. The caller sets {@link Regex#body} to
   * both as soon as it knows the part. The part may contain the loop itself, after at least one
   * byte.
   */
  Regex loop(Regex after) {
    Regex node = new Regex(Kind.LOOP, new Regex[] {after}, NO_EDGES, ++loops, 0, 0);
    node.nullable = after.nullable;
    return intern(node);
  }

  /** Returns a language as the content of a JSON string, in all accepted spellings. */
  public Regex json(Regex value) {
    return json(value, 0);
  }

  Regex json(Regex value, int phase) {
    if (value == empty || value == epsilon && phase == 0) {
      return value;
    }
    Regex node = new Regex(Kind.JSON, new Regex[] {value}, NO_EDGES, phase, 0, 0);
    node.nullable = phase == 0 && value.nullable;
    return intern(node);
  }

  /**
   * Returns the multiples of {@code divisor} as decimals without sign, with at most {@code scale}
   * digits after the point.
   */
  public Regex multiple(int divisor, int scale) {
    return multiple(0, divisor, scale | Integer.MIN_VALUE);
  }

  Regex multiple(int remainder, int divisor, int scale) {
    Regex node = new Regex(Kind.MULTIPLE, NO_PARTS, NO_EDGES, remainder, divisor, scale);
    long scaled = remainder;
    for (int i = scale & Integer.MAX_VALUE; i > 0; i--) {
      scaled = scaled * 10 % divisor;
    }
    node.nullable = scaled == 0;
    return intern(node);
  }

  /** Returns the text that is certain to be allowed next by an expression that has a match. */
  public FreeRun freeRun(Regex node) {
    return freeRuns.of(node);
  }
}
