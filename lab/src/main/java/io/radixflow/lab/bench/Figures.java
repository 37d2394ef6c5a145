package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Samples;
import java.util.Locale;

/** The figures of a benchmark, as a table and as JSON. Not thread-safe. */
public final class Figures {
  private static final String FORMAT = "%-46s %10s %10s %10s %10s %9s";

  private final StringBuilder table;
  private final ObjectNode json;

  /** Creates an empty table. */
  public Figures() {
    this(new StringBuilder(), JsonLineOutput.object());
  }

  private Figures(StringBuilder table, ObjectNode json) {
    this.table = table;
    this.json = json;
  }

  /**
   * Begins a section of the table with its own column headings.
   *
   * @param name name of the JSON object with the figures of this section
   */
  public Figures section(String name, String title) {
    return new Figures(table, json.putObject(name)).head(title);
  }

  /** Adds the column headings. */
  public Figures head(String title) {
    return note(FORMAT, title, "min", "p50", "p99", "max", "samples");
  }

  /**
   * Adds a line of figures, unless there are no samples.
   *
   * @param name name of the figures in JSON, which does not apply {@code factor}
   * @param factor from the unit of the samples to the unit of the table
   */
  public Figures add(String title, String name, Samples samples, double factor) {
    if (samples.count() > 0) {
      samples.putInto(json.putObject(name));
      line(title, samples, factor);
    }
    return this;
  }

  /** Adds a line of figures that are not in the JSON. */
  void line(String title, Samples samples, double factor) {
    note(
        FORMAT,
        title,
        number(samples.min() * factor),
        number(samples.median() * factor),
        number(samples.quantile(0.99) * factor),
        number(samples.max() * factor),
        samples.count());
  }

  private static String number(double value) {
    int digits = value < 10 ? 3 : value < 100 ? 2 : value < 10_000 ? 1 : 0;
    return String.format(Locale.ROOT, "%,." + digits + "f", value);
  }

  /** Adds a line of text. */
  public Figures note(String format, Object... values) {
    table.append(String.format(Locale.ROOT, format, values)).append('\n');
    return this;
  }

  /** Returns the figures as JSON; the caller may add values. */
  public ObjectNode json() {
    return json;
  }

  String table() {
    return table.toString();
  }
}
