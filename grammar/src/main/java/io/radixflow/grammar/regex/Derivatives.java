package io.radixflow.grammar.regex;

import io.radixflow.grammar.regex.Regex.Kind;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The expressions for the text after a byte, by Brzozowski, "Derivatives of Regular Expressions"
 * (1964). After {@link RegexPool#seal}, bytes that no expression tells apart share a class, and
 * each node keeps its derivatives by class. Owned by one pool; not thread-safe.
 */
public final class Derivatives {
  private final RegexPool pool;
  final Liveness liveness;

  /** Null until the pool is sealed. */
  private ByteClasses classes;

  Derivatives(RegexPool pool) {
    this.pool = pool;
    liveness = new Liveness(pool, this);
  }

  /** Divides bytes into the classes that the expressions of a source tell apart. */
  void divideBytes(List<Regex> source) {
    classes = new ByteClasses(source);
  }

  /** Forgets the classes, because expressions are added to the source. */
  void forgetClasses() {
    classes = null;
  }

  /** Returns the number of classes of bytes. */
  public int classCount() {
    return classes.count();
  }

  public int classOf(int value) {
    return classes.of(value);
  }

  /** Returns the first byte of a class. */
  int byteOf(int byteClass) {
    return classes.first(byteClass);
  }

  /** Returns the expression for the text after a byte, or EMPTY if it has no match. */
  public Regex next(Regex node, int byteClass) {
    Regex known = node.row == null ? null : node.row[byteClass];
    if (known != null && known.alive != 0) {
      return known.alive == 1 ? known : pool.empty;
    }
    Regex derived = derive(node, byteOf(byteClass));
    if (liveness.isAlive(derived)) {
      return derived;
    }
    node.row[byteClass] = pool.empty;
    return pool.empty;
  }

  /** Returns the expression for the text after a byte, which may match nothing. */
  Regex derive(Regex node, int value) {
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
    pool.spend(1 + node.parts.length);
    liveness.spend(1 + node.parts.length);
    switch (node.kind) {
      case LEAF:
        Regex target = follow(node, value);
        return target == null ? pool.empty : target;
      case CONCAT:
        Regex first = pool.concat(derive(node.parts[0], value), node.parts[1]);
        return node.parts[0].nullable ? pool.or(first, derive(node.parts[1], value)) : first;
      case OR:
        return pool.or(derivatives(node, value));
      case AND:
        return pool.and(derivatives(node, value));
      case NOT:
        return pool.not(derive(node.parts[0], value));
      case REPEAT:
        Regex more =
            pool.repeat(
                node.parts[0],
                Math.max(node.min - 1, 0),
                node.max == Regex.MANY ? Regex.MANY : node.max - 1);
        return pool.concat(derive(node.parts[0], value), more);
      case JSON:
        return spelled(node, value);
      case MULTIPLE:
        return counted(node, value);
      case LOOP:
        return derive(node.body, value);
      default:
        return pool.empty;
    }
  }

  private Regex[] derivatives(Regex node, int value) {
    Regex[] derived = new Regex[node.parts.length];
    for (int i = 0; i < derived.length; i++) {
      derived[i] = derive(node.parts[i], value);
      if (derived[i] == pool.empty && node.kind == Kind.AND) {
        return new Regex[] {pool.empty};
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
   * Returns the derivative of a JSON string. The phases of an escape are 1 after the backslash, 2
   * to 4 after u, u0 and u00, 5 to 7 before the last digit.
   */
  private Regex spelled(Regex node, int value) {
    Regex content = node.parts[0];
    int digit = Character.digit(value, 16);
    switch (node.min) {
      case 0:
        if (value == '\\') {
          return pool.json(content, 1);
        }
        return value < 0x20 || value == '"' || value == 0x7F
            ? pool.empty
            : pool.json(derive(content, value));
      case 1:
        if (value == 'u') {
          return pool.json(content, 2);
        }
        int at = "\"\\bfnrt".indexOf(value);
        return at < 0 ? pool.empty : pool.json(derive(content, "\"\\\b\f\n\r\t".charAt(at)));
      case 2, 3:
        return value == '0' ? pool.json(content, node.min + 1) : pool.empty;
      case 4:
        return value == '0' || value == '1' || value == '7'
            ? pool.json(content, 5 + (value & 7))
            : pool.empty;
      default:
        if (digit < 0 || node.min == 12 && digit != 15) {
          return pool.empty;
        }
        return pool.json(derive(content, (node.min - 5) << 4 | digit));
    }
  }

  private Regex counted(Regex node, int value) {
    boolean fraction = node.scale >= 0;
    if (value == '.' && !fraction) {
      return (node.scale & Integer.MAX_VALUE) == 0
          ? pool.empty
          : pool.multiple(node.min, node.max, node.scale & Integer.MAX_VALUE);
    }
    if (value < '0' || value > '9' || fraction && node.scale == 0) {
      return pool.empty;
    }
    int remainder = (int) ((10L * node.min + value - '0') % node.max);
    return pool.multiple(remainder, node.max, fraction ? node.scale - 1 : node.scale);
  }

  /**
   * Returns an expression that equals a given one for the first {@code bytes} bytes. Counts above
   * that number are cut, so that many expressions have the same result.
   */
  public Regex within(Regex node, int bytes) {
    switch (node.kind) {
      case CONCAT:
        Regex head = within(node.parts[0], bytes);
        return head == node.parts[0] ? node : pool.concat(head, node.parts[1]);
      case JSON:
        return pool.json(within(node.parts[0], bytes), node.min);
      case REPEAT:
        if (node.parts[0].nullable) {
          return node;
        }
        int least = Math.min(node.min, bytes + 1);
        int most = node.max == Regex.MANY ? Regex.MANY : Math.min(node.max, bytes + 1);
        return pool.repeat(node.parts[0], least, most);
      default:
        return node;
    }
  }

  /** Returns whether an expression matches a whole text. */
  public boolean matches(Regex node, String text) {
    Regex rest = node;
    for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
      rest = derive(rest, value & 0xFF);
    }
    return rest.nullable;
  }
}
