package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.EngineBench.StepTime;
import java.io.PrintWriter;
import java.util.Locale;

/** Compares engine steps with and without the measured part and reports its cost. */
final class CacheCost {
  private final String what;
  private final Samples with = new Samples();
  private final Samples without = new Samples();
  private final Samples ratio = new Samples();
  private final Samples hostWith = new Samples();
  private final Samples hostWithout = new Samples();
  private final Samples share = new Samples();
  private final Samples processRatio = new Samples();

  /**
   * @param what names the measured part
   */
  CacheCost(String what) {
    this.what = what;
  }

  void add(StepTime cached, StepTime plain) {
    with.add(cached.seconds());
    without.add(plain.seconds());
    ratio.add(cached.seconds() / plain.seconds());
    hostWith.add(cached.hostSeconds());
    hostWithout.add(plain.hostSeconds());
    processRatio.add(cached.processSeconds() / plain.processSeconds());
    share.add((cached.hostSeconds() - plain.hostSeconds()) / plain.seconds());
  }

  void print(PrintWriter out) {
    out.printf("%-34s %9s %9s %9s %20s%n", "", "min", "median", "max", "95 % of the median");
    line(out, "step with " + what + ", us", "%9.1f", with, 1e6);
    line(out, "step without, us", "%9.1f", without, 1e6);
    line(out, "ratio", "%9.4f", ratio, 1);
    line(out, "ratio of the process's CPU time", "%9.4f", processRatio, 1);
    line(out, "engine thread with " + what + ", CPU us", "%9.1f", hostWith, 1e6);
    line(out, "engine thread without, CPU us", "%9.1f", hostWithout, 1e6);
    line(out, "difference, % of a step", "%9.3f", share, 100);
  }

  private static void line(
      PrintWriter out, String name, String format, Samples samples, double factor) {
    out.printf(
        Locale.ROOT,
        "%-34s " + format + " " + format + " " + format + "  " + format + " " + format + "%n",
        name,
        samples.min() * factor,
        samples.median() * factor,
        samples.max() * factor,
        samples.medianBounds()[0] * factor,
        samples.medianBounds()[1] * factor);
  }

  ObjectNode json() {
    ObjectNode json = JsonLineOutput.object();
    with.putInto(json.putObject("seconds_with_" + what));
    without.putInto(json.putObject("seconds_without_" + what));
    putRatio(json.putObject("ratio"), ratio);
    putRatio(json.putObject("process_cpu_ratio"), processRatio);
    hostWith.putInto(json.putObject("engine_thread_cpu_seconds_with_" + what));
    hostWithout.putInto(json.putObject("engine_thread_cpu_seconds_without_" + what));
    share.putInto(json.putObject("engine_thread_share_of_step"));
    return json;
  }

  private static void putRatio(ObjectNode json, Samples samples) {
    samples.putInto(json);
    ArrayNode bounds = json.putArray("median_95");
    bounds.add(samples.medianBounds()[0]).add(samples.medianBounds()[1]);
  }
}
