package io.radixflow.grammar.rule;

import io.radixflow.grammar.regex.Regex;
import java.util.List;

/** A context-free expression: the body of a rule, or a part of one. */
public sealed interface Rule {
  Rule NOTHING = new Seq(List.of());

  /**
   * Text of a regular language.
   *
   * @param gap whether it may only come between other lexemes, and not at the start of a text
   */
  record Lexeme(Regex regex, boolean gap) implements Rule {}

  /** Parts one after the other. */
  record Seq(List<Rule> parts) implements Rule {}

  /** Exactly one of the parts; without parts nothing matches. */
  record Alt(List<Rule> parts) implements Rule {}

  /** Another rule of the same {@link RuleBook}. */
  record Ref(int rule) implements Rule {}

  /**
   * A part repeated {@code min} to {@code max} times. A {@code max} of {@link Regex#MANY} means no
   * bound.
   */
  record Count(Rule body, int min, int max) implements Rule {}

  static Rule seq(Rule... parts) {
    return new Seq(List.of(parts));
  }

  static Rule alt(Rule... parts) {
    return new Alt(List.of(parts));
  }

  static Rule optional(Rule part) {
    return alt(part, NOTHING);
  }
}
