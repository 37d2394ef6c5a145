package io.radixflow.text.jinja.builtin;

import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.Comparison;
import io.radixflow.text.jinja.value.Dict;
import io.radixflow.text.jinja.value.Invocable;
import io.radixflow.text.jinja.value.Numbers;
import io.radixflow.text.jinja.value.Printing;
import io.radixflow.text.jinja.value.Undefined;
import io.radixflow.text.jinja.value.Values;
import java.util.Map;
import java.util.function.Predicate;

/** Jinja's tests, which are the functions that may follow {@code is}. */
final class Tests {

  /** A test that compares with a second value. */
  private interface Relation {
    boolean holds(Budget budget, Object a, Object b);
  }

  private Tests() {}

  static void register(Map<String, Invocable> tests) {
    plain(tests, "defined", value -> !(value instanceof Undefined));
    plain(tests, "undefined", value -> value instanceof Undefined);
    plain(tests, "none", value -> value == null);
    plain(tests, "boolean", value -> value instanceof Boolean);
    plain(tests, "true", value -> Boolean.TRUE.equals(value));
    plain(tests, "false", value -> Boolean.FALSE.equals(value));
    plain(tests, "integer", value -> Numbers.isInt(value) && !(value instanceof Boolean));
    plain(tests, "float", value -> value instanceof Double);
    plain(tests, "number", Numbers::isNumber);
    plain(tests, "string", Values::isText);
    plain(tests, "mapping", value -> value instanceof Dict);
    plain(tests, "iterable", Values::isIterable);
    plain(tests, "sequence", Tests::isSequence);
    plain(tests, "callable", value -> value instanceof Invocable || value instanceof Undefined);
    tests.put(
        "lower",
        (budget, a) -> LetterCase.isLower(Printing.str(budget, a.bind("lower", 1, "value")[0])));
    tests.put(
        "upper",
        (budget, a) -> LetterCase.isUpper(Printing.str(budget, a.bind("upper", 1, "value")[0])));
    tests.put("odd", (budget, a) -> rest(budget, a.bind("odd", 1, "value")[0], 2L, 1L));
    tests.put("even", (budget, a) -> rest(budget, a.bind("even", 1, "value")[0], 2L, 0L));
    relation(tests, (budget, a, b) -> rest(budget, a, b, 0L), "divisibleby");
    relation(tests, (budget, a, b) -> same(a, b), "sameas");
    relation(tests, (budget, a, b) -> Comparison.contains(budget, b, a), "in");
    relation(tests, Comparison::equal, "eq", "==", "equalto");
    relation(tests, (budget, a, b) -> !Comparison.equal(budget, a, b), "ne", "!=");
    relation(
        tests, (budget, a, b) -> Comparison.ordered(budget, ">", a, b), "gt", ">", "greaterthan");
    relation(tests, (budget, a, b) -> Comparison.ordered(budget, ">=", a, b), "ge", ">=");
    relation(tests, (budget, a, b) -> Comparison.ordered(budget, "<", a, b), "lt", "<", "lessthan");
    relation(tests, (budget, a, b) -> Comparison.ordered(budget, "<=", a, b), "le", "<=");
  }

  private static void plain(Map<String, Invocable> tests, String name, Predicate<Object> holds) {
    tests.put(name, (budget, a) -> holds.test(a.bind(name, 1, "value")[0]));
  }

  private static void relation(Map<String, Invocable> tests, Relation relation, String... names) {
    for (String name : names) {
      tests.put(
          name,
          (budget, a) -> {
            Object[] bound = a.bind(name, 2, "value", "other");
            return relation.holds(budget, bound[0], bound[1]);
          });
    }
  }

  private static boolean isSequence(Object value) {
    return Operators.isSequence(value) || value instanceof Dict || value instanceof Undefined;
  }

  private static boolean rest(Budget budget, Object value, Object by, Object wanted) {
    return Comparison.equal(budget, Operators.binary(budget, "%", value, by), wanted);
  }

  private static boolean same(Object a, Object b) {
    return a == b
        || a != null
            && (a instanceof String || a instanceof Boolean || a instanceof Long)
            && a.equals(b);
  }
}
