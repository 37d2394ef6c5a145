package io.radixflow.kernels.grammar.regex;

import io.radixflow.kernels.grammar.regex.Regex.Kind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Makes, interns and derives {@link Regex} nodes (Brzozowski's derivatives). Owned by one grammar;
 * not thread-safe.
 */
public final class RegexPool {
  private static final Regex[] NO_PARTS = {};
  private static final int[] NO_EDGES = {};
  private static final Comparator<Regex> BY_ID = (a, b) -> Integer.compare(a.id, b.id);

  public final Regex empty;
  public final Regex epsilon;

  /** Every text of bytes. */
  final Regex all;

  /** Any one character. */
  private final Regex anyCharacter;

  /** Every text of whole characters. */
  public final Regex anyText;

  private final Map<Regex, Regex> interned = new HashMap<>();
  private final Map<CodePoints, Regex> characters = new HashMap<>();

  /** Expressions by their source, which schemas often repeat. */
  private final Map<Object, Regex> parsed = new HashMap<>();

  private final Regex[] tails = new Regex[3];
  private final FreeRuns freeRuns;
  private int nextId;
  private int loops;

  /** The expressions made from the grammar's source, without the expressions that matching adds. */
  private final List<Regex> source = new ArrayList<>();

  private ByteClasses classes;

  /** Searches that are under way, one within another. */
  private int searches;

  /** Work of the search that is under way, or of all until the grammar is compiled. */
  private long searchSteps;

  private boolean compiled;

  private final Work work;

  public RegexPool() {
    this(new Work());
  }

  /**
   * @param work counts what compiling takes
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
  }

  /** Counts work while the grammar is compiled. */
  public void spend(long amount) {
    if (!compiled) {
      work.spend(amount);
    }
  }

  // ---- building ----

  /** The expression of a source, parsed once. */
  Regex parsed(Object source, Supplier<Regex> parser) {
    Regex known = parsed.get(source);
    if (known == null) {
      known = parser.get();
      parsed.put(source, known);
    }
    return known;
  }

  /** Divides bytes into classes; after it, only derivatives are added. */
  public void seal() {
    if (classes != null) {
      return;
    }
    classes = new ByteClasses(source);
  }

  /** Ends the time in which all searches share one bound. */
  public void endCompilation() {
    compiled = true;
    searchSteps = 0;
    parsed.clear();
  }

  /** Number of the classes of bytes that no expression tells apart. */
  public int classCount() {
    return classes.count();
  }

  public int classOf(int value) {
    return classes.of(value);
  }

  /** An estimate of the bytes that all nodes take. */
  public long bytes() {
    return interned.size() * (160L + 2L * classes.count());
  }

  /** Returns whether matching has added more nodes than may be kept. */
  public boolean isFull() {
    return interned.size() > source.size() + Limits.DERIVED_NODES;
  }

  /** Drops what derivatives have added, and lets a grammar be built further. */
  public void reopen() {
    shrink();
    classes = null;
  }

  /** Drops all that matching has added. */
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
    if (classes == null && interned.size() >= Limits.NODES) {
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
    if (classes == null) {
      source.add(node);
    }
    return node;
  }

  /** A node that reads one byte by its edges; {@code parts} are what each edge leads to. */
  private Regex leaf(boolean nullable, int[] edges, Regex[] parts) {
    if (parts.length == 0) {
      return nullable ? epsilon : empty;
    }
    Regex node = new Regex(Kind.LEAF, parts, edges, 0, 0, 0);
    node.nullable = nullable;
    return intern(node);
  }

  /** One character of a set, in UTF-8. */
  public Regex chars(CodePoints set) {
    Regex known = characters.get(set);
    if (known == null) {
      if (characters.size() >= Limits.CHARACTER_SETS) {
        throw GrammarException.tooLarge(
            "it has more than " + Limits.CHARACTER_SETS + " different sets of characters");
      }
      known = encode(set);
      characters.put(set, known);
    }
    return known;
  }

  private Regex encode(CodePoints set) {
    Edges edges = new Edges();
    for (int b = 0; b < 0x80; b++) {
      edges.add(b, set.contains(b) ? epsilon : empty);
    }
    CodePoints two = set.and(CodePoints.range(0x80, 0x7FF));
    for (int b = 0xC2; b <= 0xDF; b++) {
      edges.add(b, tail(two, (b & 0x1F) << 6, 1));
    }
    CodePoints three = set.and(CodePoints.range(0x800, 0xFFFF));
    for (int b = 0xE0; b <= 0xEF; b++) {
      edges.add(b, tail(three, (b & 0xF) << 12, 2));
    }
    CodePoints four = set.and(CodePoints.range(0x10000, CodePoints.MAX));
    for (int b = 0xF0; b <= 0xF4; b++) {
      edges.add(b, tail(four, (b & 7) << 18, 3));
    }
    Regex made = edges.node(false);
    made.aligned = true;
    return made;
  }

  /** The last bytes of those characters of a set that begin at a base. */
  private Regex tail(CodePoints set, int base, int bytes) {
    int size = 1 << 6 * bytes;
    int covered = base > CodePoints.MAX ? 0 : set.covers(base, base + size - 1);
    if (covered == 0) {
      return empty;
    }
    if (bytes == 0) {
      return epsilon;
    }
    if (covered == 1 && tails[bytes - 1] != null) {
      return tails[bytes - 1];
    }
    Edges edges = new Edges();
    for (int b = 0; b < 64; b++) {
      edges.add(0x80 + b, tail(set, base + b * (size >> 6), bytes - 1));
    }
    Regex made = edges.node(false);
    if (covered == 1) {
      tails[bytes - 1] = made;
    }
    return made;
  }

  /** Collects the edges of a leaf in the order of their bytes. */
  private final class Edges {
    private final List<Integer> bounds = new ArrayList<>();
    private final List<Regex> targets = new ArrayList<>();

    void add(int value, Regex target) {
      if (target == empty) {
        return;
      }
      int last = targets.size() - 1;
      if (last >= 0 && targets.get(last) == target && bounds.get(2 * last + 1) == value - 1) {
        bounds.set(2 * last + 1, value);
        return;
      }
      bounds.add(value);
      bounds.add(value);
      targets.add(target);
    }

    Regex node(boolean nullable) {
      int[] edges = bounds.stream().mapToInt(Integer::intValue).toArray();
      return leaf(nullable, edges, targets.toArray(NO_PARTS));
    }
  }

  public Regex text(String text) {
    return aligned(bytes(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Marks a leaf as one of whole texts, which its bytes alone do not show. */
  private static Regex aligned(Regex node) {
    node.aligned = true;
    return node;
  }

  private Regex bytes(byte[] text) {
    Regex made = epsilon;
    for (int i = text.length - 1; i >= 0; i--) {
      int value = text[i] & 0xFF;
      made = leaf(false, new int[] {value, value}, new Regex[] {made});
    }
    return made;
  }

  /** Any of some texts, as one automaton. */
  public Regex texts(Collection<String> texts) {
    TreeMap<byte[], Boolean> sorted = new TreeMap<>(Arrays::compareUnsigned);
    for (String text : texts) {
      sorted.put(text.getBytes(StandardCharsets.UTF_8), true);
    }
    if (sorted.isEmpty()) {
      return empty;
    }
    // Texts come in the order of their bytes; a level is closed when the next text leaves it.
    List<Edges> levels = new ArrayList<>();
    List<Boolean> ends = new ArrayList<>();
    byte[] previous = {};
    levels.add(new Edges());
    ends.add(false);
    for (byte[] text : sorted.keySet()) {
      int common = Math.max(0, mismatch(previous, text));
      close(levels, ends, previous, common);
      for (int i = common; i < text.length; i++) {
        levels.add(new Edges());
        ends.add(false);
      }
      ends.set(text.length, true);
      previous = text;
    }
    close(levels, ends, previous, 0);
    return aligned(levels.get(0).node(ends.get(0)));
  }

  private static int mismatch(byte[] a, byte[] b) {
    int at = Arrays.mismatch(a, b);
    return at < 0 ? a.length : at;
  }

  private void close(List<Edges> levels, List<Boolean> ends, byte[] text, int keep) {
    while (levels.size() > keep + 1) {
      int last = levels.size() - 1;
      Regex node = levels.remove(last).node(ends.remove(last));
      levels.get(last - 1).add(text[last - 1] & 0xFF, node);
    }
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

  /** The parts of a union or an intersection, by their ids. */
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

  /** A language as the content of a JSON string, in each spelling that is accepted. */
  public Regex json(Regex value) {
    return json(value, 0);
  }

  private Regex json(Regex value, int phase) {
    if (value == empty || value == epsilon && phase == 0) {
      return value;
    }
    Regex node = new Regex(Kind.JSON, new Regex[] {value}, NO_EDGES, phase, 0, 0);
    node.nullable = phase == 0 && value.nullable;
    return intern(node);
  }

  /** Decimals without sign, of at most {@code scale} digits after the point. */
  public Regex multiple(int divisor, int scale) {
    return multiple(0, divisor, scale | Integer.MIN_VALUE);
  }

  private Regex multiple(int remainder, int divisor, int scale) {
    Regex node = new Regex(Kind.MULTIPLE, NO_PARTS, NO_EDGES, remainder, divisor, scale);
    long scaled = remainder;
    for (int i = scale & Integer.MAX_VALUE; i > 0; i--) {
      scaled = scaled * 10 % divisor;
    }
    node.nullable = scaled == 0;
    return intern(node);
  }

  // ---- deriving ----

  /** Returns the expression for the text after a byte, or EMPTY if it has no match. */
  public Regex next(Regex node, int byteClass) {
    Regex known = node.row == null ? null : node.row[byteClass];
    if (known != null && known.alive != 0) {
      return known.alive == 1 ? known : empty;
    }
    Regex derived = derive(node, classes.first(byteClass));
    if (isAlive(derived)) {
      return derived;
    }
    node.row[byteClass] = empty;
    return empty;
  }

  public Regex derive(Regex node, int value) {
    if (classes == null) {
      return compute(node, value);
    }
    if (node.row == null) {
      node.row = new Regex[classes.count()];
    }
    int byteClass = classes.of(value);
    Regex known = node.row[byteClass];
    if (known == null) {
      known = compute(node, value);
      node.row[byteClass] = known;
    }
    return known;
  }

  private Regex compute(Regex node, int value) {
    spend(1 + node.parts.length);
    searchSteps += searches > 0 ? 1 + node.parts.length : 0;
    switch (node.kind) {
      case LEAF:
        Regex target = follow(node, value);
        return target == null ? empty : target;
      case CONCAT:
        Regex first = concat(derive(node.parts[0], value), node.parts[1]);
        return node.parts[0].nullable ? or(first, derive(node.parts[1], value)) : first;
      case OR:
        return or(derivatives(node, value));
      case AND:
        return and(derivatives(node, value));
      case NOT:
        return not(derive(node.parts[0], value));
      case REPEAT:
        Regex more =
            repeat(
                node.parts[0],
                Math.max(node.min - 1, 0),
                node.max == Regex.MANY ? Regex.MANY : node.max - 1);
        return concat(derive(node.parts[0], value), more);
      case JSON:
        return spelled(node, value);
      case MULTIPLE:
        return counted(node, value);
      case LOOP:
        return derive(node.body, value);
      default:
        return empty;
    }
  }

  private Regex[] derivatives(Regex node, int value) {
    Regex[] derived = new Regex[node.parts.length];
    for (int i = 0; i < derived.length; i++) {
      derived[i] = derive(node.parts[i], value);
      if (derived[i] == empty && node.kind == Kind.AND) {
        return new Regex[] {empty};
      }
    }
    return derived;
  }

  /** Returns the expression that a leaf's edge leads to; null if no edge has this byte. */
  static Regex follow(Regex leaf, int value) {
    int low = 0;
    int high = leaf.parts.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (leaf.edges[2 * middle] > value) {
        high = middle - 1;
      } else if (leaf.edges[2 * middle + 1] < value) {
        low = middle + 1;
      } else {
        return leaf.parts[middle];
      }
    }
    return null;
  }

  /**
   * Phases of a JSON escape: 1 after the backslash, 2 to 4 after u, u0, u00, 5 to 7 before the last
   * digit.
   */
  private Regex spelled(Regex node, int value) {
    Regex content = node.parts[0];
    int digit = Character.digit(value, 16);
    switch (node.min) {
      case 0:
        if (value == '\\') {
          return json(content, 1);
        }
        return value < 0x20 || value == '"' || value == 0x7F ? empty : json(derive(content, value));
      case 1:
        if (value == 'u') {
          return json(content, 2);
        }
        int at = "\"\\bfnrt".indexOf(value);
        return at < 0 ? empty : json(derive(content, "\"\\\b\f\n\r\t".charAt(at)));
      case 2, 3:
        return value == '0' ? json(content, node.min + 1) : empty;
      case 4:
        return value == '0' || value == '1' || value == '7'
            ? json(content, 5 + (value & 7))
            : empty;
      default:
        if (digit < 0 || node.min == 12 && digit != 15) {
          return empty;
        }
        return json(derive(content, (node.min - 5) << 4 | digit));
    }
  }

  private Regex counted(Regex node, int value) {
    boolean fraction = node.scale >= 0;
    if (value == '.' && !fraction) {
      return (node.scale & Integer.MAX_VALUE) == 0
          ? empty
          : multiple(node.min, node.max, node.scale & Integer.MAX_VALUE);
    }
    if (value < '0' || value > '9' || fraction && node.scale == 0) {
      return empty;
    }
    int remainder = (int) ((10L * node.min + value - '0') % node.max);
    return multiple(remainder, node.max, fraction ? node.scale - 1 : node.scale);
  }

  /**
   * An expression that reads the same texts of up to a number of bytes, and goes on after them if
   * the given one does: counts beyond that number are cut, so that it stands for many.
   */
  public Regex within(Regex node, int bytes) {
    switch (node.kind) {
      case CONCAT:
        Regex head = within(node.parts[0], bytes);
        return head == node.parts[0] ? node : concat(head, node.parts[1]);
      case JSON:
        return json(within(node.parts[0], bytes), node.min);
      case REPEAT:
        if (node.parts[0].nullable) {
          return node;
        }
        int least = Math.min(node.min, bytes + 1);
        int most = node.max == Regex.MANY ? Regex.MANY : Math.min(node.max, bytes + 1);
        return repeat(node.parts[0], least, most);
      default:
        return node;
    }
  }

  /** Returns the text that is certain to be allowed next by an expression that has a match. */
  public FreeRun freeRun(Regex node) {
    return freeRuns.of(node);
  }

  // ---- which expressions match anything ----

  /** Returns whether a language has any text. */
  public boolean isAlive(Regex node) {
    if (node.alive == 0) {
      node.alive = (byte) (decide(node) ? 1 : 2);
    }
    return node.alive == 1;
  }

  private boolean decide(Regex node) {
    if (node.shortest > node.longest || node.kind == Kind.EMPTY) {
      return false;
    }
    if (node.surelyAlive) {
      return true;
    }
    switch (node.kind) {
      case CONCAT:
        return isAlive(node.parts[0]) && isAlive(node.parts[1]);
      case OR:
        return Arrays.stream(node.parts).anyMatch(this::isAlive);
      case REPEAT:
        return isAlive(node.parts[0]);
      case JSON:
        return node.min == 0 ? isAlive(node.parts[0]) : anyEscapeLeads(node);
      case LOOP:
        return isAlive(node.parts[0]) || search(node);
      default:
        return isTextOfLength(node) || search(node);
    }
  }

  /** Returns whether an intersection surely has a match, as one of text and of its length. */
  private boolean isTextOfLength(Regex node) {
    if (node.kind != Kind.AND || node.parts.length != 2) {
      return false;
    }
    boolean swapped = isLength(node.parts[0]);
    Regex text = node.parts[swapped ? 1 : 0];
    Regex length = node.parts[swapped ? 0 : 1];
    if (!text.exact || !text.aligned || !isLength(length)) {
      return false;
    }
    return text.shortest >= length.min && text.shortest <= length.max
        || Math.max(text.filled, length.min) <= Math.min(text.longest, length.max);
  }

  /** Returns whether a text may be any whose number of characters is in a range. */
  private boolean isLength(Regex node) {
    return node.kind == Kind.REPEAT && node.parts[0] == anyCharacter;
  }

  private boolean anyEscapeLeads(Regex node) {
    for (int value : ByteClasses.JSON_ESCAPES) {
      Regex derived = derive(node, value);
      if (derived != empty && isAlive(derived)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Looks for a text of an intersection, a complement, a multiple or a loop. It first tries the
   * states from which the end may be nearest.
   */
  private boolean search(Regex start) {
    searches++;
    try {
      return findText(start);
    } finally {
      if (--searches == 0 && compiled) {
        searchSteps = 0;
      }
    }
  }

  /** An expression that a search has reached; the latest come first. */
  private record Reached(Regex node, int order) implements Comparable<Reached> {
    @Override
    public int compareTo(Reached other) {
      return node.shortest == other.node.shortest
          ? other.order - order
          : Integer.compare(node.shortest, other.node.shortest);
    }
  }

  private boolean findText(Regex start) {
    Map<Regex, Regex> reachedFrom = new HashMap<>();
    PriorityQueue<Reached> open = new PriorityQueue<>();
    reachedFrom.put(start, start);
    open.add(new Reached(start, 0));
    while (!open.isEmpty()) {
      Regex node = open.remove().node;
      for (int c = 0; c < classes.count(); c++) {
        if (++searchSteps > Limits.SEARCH) {
          throw GrammarException.tooLarge("its intersections take too long to decide");
        }
        Regex derived = derive(node, classes.first(c));
        if (derived == empty || derived.alive == 2 || reachedFrom.containsKey(derived)) {
          continue;
        }
        reachedFrom.put(derived, node);
        boolean searched =
            derived.kind == Kind.AND
                || derived.kind == Kind.NOT
                || derived.kind == Kind.MULTIPLE
                || derived.looping;
        if (derived.nullable || derived.alive == 1 || !searched && isAlive(derived)) {
          for (Regex on = derived; on != start; on = reachedFrom.get(on)) {
            on.alive = 1;
          }
          return true;
        }
        if (searched && derived.shortest <= derived.longest) {
          open.add(new Reached(derived, reachedFrom.size()));
        }
      }
    }
    for (Regex dead : reachedFrom.keySet()) {
      dead.alive = 2;
    }
    return false;
  }

  /** Returns whether a language has a text. */
  public boolean matches(Regex node, String text) {
    Regex rest = node;
    for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
      rest = derive(rest, value & 0xFF);
    }
    return rest.nullable;
  }
}
