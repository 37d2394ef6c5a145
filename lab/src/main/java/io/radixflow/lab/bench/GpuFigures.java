package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.radixflow.lab.device.GpuFigure;
import java.io.PrintWriter;
import java.util.Locale;

/** Prints measurements of a GPU one by one, as lines of a table and as JSON. */
record GpuFigures(PrintWriter out, ArrayNode json) {
  private static final String HEAD = "%-28s %-24s %12s %10s %10s %6s%n";
  private static final String LINE = "%-28s %-24s %12.1f %10.1f %10.1f %6s%n";

  void show(GpuFigure figure) {
    if (json.isEmpty()) {
      out.printf(HEAD, "", "", "time in us", "GB/s", "TFLOP/s", "ratio");
    }
    double bandwidth = figure.bytes() / figure.seconds();
    double speed = figure.flops() / figure.seconds();
    json.addObject()
        .put("group", figure.group())
        .put("name", figure.name())
        .put("seconds", figure.seconds())
        .put("floor_seconds", figure.floorSeconds())
        .put("ratio", figure.ratio())
        .put("bytes_per_second", bandwidth)
        .put("flops_per_second", speed);
    out.printf(
        Locale.ROOT,
        LINE,
        figure.group(),
        figure.name(),
        figure.seconds() * 1e6,
        bandwidth / 1e9,
        speed / 1e12,
        figure.ratio() > 0 ? String.format(Locale.ROOT, "%.2f", figure.ratio()) : "");
    out.flush();
  }
}
