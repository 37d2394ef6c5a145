package io.radixflow.text.jinja;

import io.radixflow.text.jinja.builtin.Globals;
import io.radixflow.text.jinja.value.Budget;
import io.radixflow.text.jinja.value.JinjaException;
import io.radixflow.text.jinja.value.Values;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;

/**
 * A parsed template. Immutable and thread-safe.
 *
 * <p>Templates and their variables are untrusted. Time, memory, output and depth are bounded by
 * counters, so the same template with the same variables always has the same outcome.
 */
public final class JinjaTemplate {
  private static final int LONGEST_SOURCE = 4 << 20;

  private final List<Statement> statements;

  private JinjaTemplate(List<Statement> statements) {
    this.statements = statements;
  }

  /**
   * @throws JinjaException if the source is not a valid template
   */
  public static JinjaTemplate parse(String source) {
    if (source.length() > LONGEST_SOURCE) {
      throw JinjaException.limit("the template is too long");
    }
    try {
      return new JinjaTemplate(Parser.parse(source));
    } catch (StackOverflowError e) {
      throw JinjaException.limit("the template is nested too deep");
    }
  }

  /**
   * Renders the template.
   *
   * @param variables JSON values: maps with ordered keys, lists, texts, numbers, booleans, null
   * @param now the time for {@code strftime_now}
   * @throws JinjaException if the template fails, rejects the variables, or exceeds a bound
   */
  public String render(Map<String, ?> variables, LocalDateTime now) {
    Map<String, Object> names = Globals.at(now);
    try {
      variables.forEach((name, value) -> names.put(name, Values.of(value)));
      Scope root = new Scope(new Scope(names));
      Interpreter interpreter = new Interpreter(new Budget(size(variables)));
      try {
        interpreter.run(statements, root);
        return interpreter.output();
      } catch (JinjaException e) {
        throw e.at(interpreter.line());
      }
    } catch (StackOverflowError e) {
      throw JinjaException.limit("the template or its data is nested too deep");
    }
  }

  private static long size(Object value) {
    long size = 16;
    if (value instanceof String text) {
      size += text.length();
    } else if (value instanceof Map<?, ?> map) {
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        size += size(entry.getKey()) + size(entry.getValue());
      }
    } else if (value instanceof List<?> list) {
      for (Object item : list) {
        size += size(item);
      }
    }
    return size;
  }
}
