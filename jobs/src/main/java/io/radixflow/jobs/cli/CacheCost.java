package io.radixflow.jobs.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.jobs.cli.EngineBench.StepTime;
import java.io.PrintWriter;
import java.util.Locale;

/** Engine steps with the radix cache beside steps without, and what that says of its cost. */
final class CacheCost {
  private final Samples with = new Samples();
  private final Samples without = new Samples();
  private final Samples ratio = new Samples();
  private final Samples hostWith = new Samples();
  private final Samples hostWithout = new Samples();
  private final Samples share = new Samples();

  /** Takes two runs over the same prompts. */
  void add(StepTime cached, StepTime plain) {
    with.add(cached.seconds());
    without.add(plain.seconds());
    ratio.add(cached.seconds() / plain.seconds());
    hostWith.add(cached.hostSeconds());
    hostWithout.add(plain.hostSeconds());
    share.add((cached.hostSeconds() - plain.hostSeconds()) / plain.seconds());
  }

  void print(PrintWriter out) {
    out.printf("%-34s %9s %9s %9s%n", "", "min", "median", "max");
    line(out, "step with cache, us", "%9.1f", with, 1e6);
    line(out, "step without, us", "%9.1f", without, 1e6);
    line(out, "ratio", "%9.4f", ratio, 1);
    line(out, "engine thread with cache, CPU us", "%9.1f", hostWith, 1e6);
    line(out, "engine thread without, CPU us", "%9.1f", hostWithout, 1e6);
    line(out, "difference, % of a step", "%9.3f", share, 100);
  }

  private static void line(
      PrintWriter out, String name, String format, Samples samples, double factor) {
    out.printf(
        Locale.ROOT,
        "%-34s " + format + " " + format + " " + format + "%n",
        name,
        samples.min() * factor,
        samples.median() * factor,
        samples.max() * factor);
  }

  ObjectNode json() {
    ObjectNode json = JsonLineOutput.object();
    with.putInto(json.putObject("seconds_with_cache"));
    without.putInto(json.putObject("seconds_without_cache"));
    ratio.putInto(json.putObject("ratio"));
    hostWith.putInto(json.putObject("engine_thread_cpu_seconds_with_cache"));
    hostWithout.putInto(json.putObject("engine_thread_cpu_seconds_without_cache"));
    share.putInto(json.putObject("engine_thread_share_of_step"));
    return json;
  }
}
