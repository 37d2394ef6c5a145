package io.radixflow.lab.hitrates;

import io.radixflow.lab.workload.Workload;
import java.io.StringWriter;
import java.util.Locale;
import java.util.function.ToLongFunction;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * Hit rates as an SVG line chart: capacity on a logarithmic axis, a line a policy, the bound
 * dashed.
 *
 * <p>Written without a charting library: those under licenses that this project takes either draw
 * through AWT, which needs fonts that a server lacks, or need an LGPL library for SVG.
 */
final class HitRateChart {
  private static final String SVG = "http://www.w3.org/2000/svg";
  private static final int WIDTH = 860;
  private static final int HEIGHT = 480;
  private static final int LEFT = 64;
  private static final int RIGHT = 700;
  private static final int TOP = 56;
  private static final int BOTTOM = 412;

  /** Told apart also by people who do not see all colours (Okabe and Ito 2008). */
  private static final String[] COLOURS = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#7F7F7F",
    "#332288", "#882255"
  };

  private final Workload workload;
  private final HitRates rates;
  private final double firstLog;
  private final double lastLog;
  private final double highest;
  private XMLStreamWriter xml;

  HitRateChart(Workload workload, HitRates rates) {
    this.workload = workload;
    this.rates = rates;
    double first = Math.log10(rates.rows().get(0).capacity());
    double last = Math.log10(rates.rows().get(rates.rows().size() - 1).capacity());
    boolean wide = last - first > 0.01;
    this.firstLog = wide ? first : first - 0.5;
    this.lastLog = wide ? last : last + 0.5;
    double most = rates.rows().stream().mapToDouble(r -> rates.percent(r.bound())).max().orElse(0);
    this.highest = Math.max(yStep(most), Math.ceil(most / yStep(most)) * yStep(most));
  }

  /**
   * The whole document.
   *
   * @param title shown above the chart
   */
  String svg(String title) {
    StringWriter text = new StringWriter();
    try {
      xml = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
      xml.writeStartDocument();
      xml.setDefaultNamespace(SVG);
      start("svg", "viewBox", "0 0 " + WIDTH + " " + HEIGHT);
      xml.writeDefaultNamespace(SVG);
      attributes("width", WIDTH, "height", HEIGHT, "role", "img", "font-family", "sans-serif");
      xml.writeAttribute("font-size", "12");
      element("title", title);
      empty("rect", "width", WIDTH, "height", HEIGHT, "fill", "white");
      label(LEFT, 24, "start", 15, title);
      label(LEFT, 42, "start", 12, workload.format() + ", hit rate in %");
      yAxis();
      xAxis();
      lines();
      xml.writeEndElement();
      xml.writeEndDocument();
      xml.close();
    } catch (XMLStreamException e) {
      throw new IllegalStateException(e);
    }
    return text.toString();
  }

  private void lines() throws XMLStreamException {
    for (int i = 0; i < rates.policies().size(); i++) {
      int policy = i;
      line(
          rates.policies().get(i),
          i,
          COLOURS[i % COLOURS.length],
          "none",
          row -> row.results().get(policy).hits());
    }
    line("bound (no policy)", rates.policies().size(), "black", "6 4", HitRates.Row::bound);
  }

  private void line(
      String name, int index, String colour, String dashes, ToLongFunction<HitRates.Row> hits)
      throws XMLStreamException {
    // the first are the broadest, so that lines that coincide all show
    double width = 1.6 + 0.6 * (rates.policies().size() - index);
    StringBuilder points = new StringBuilder();
    for (HitRates.Row row : rates.rows()) {
      String x = number(x(Math.log10(row.capacity())));
      String y = number(y(rates.percent(hits.applyAsLong(row))));
      points.append(points.isEmpty() ? "" : " ").append(x).append(',').append(y);
      empty("circle", "cx", x, "cy", y, "r", 1.5 + width / 2, "fill", colour);
    }
    empty(
        "polyline",
        "points",
        points,
        "fill",
        "none",
        "stroke",
        colour,
        "stroke-width",
        width,
        "stroke-dasharray",
        dashes);
    int at = TOP + 10 + 20 * index;
    empty(
        "line",
        "x1",
        RIGHT + 16,
        "x2",
        RIGHT + 44,
        "y1",
        at,
        "y2",
        at,
        "stroke",
        colour,
        "stroke-width",
        width,
        "stroke-dasharray",
        dashes);
    label(RIGHT + 50, at + 4, "start", 12, name);
  }

  private void yAxis() throws XMLStreamException {
    double step = yStep(highest);
    for (double percent = 0; percent <= highest + 1e-9; percent += step) {
      double at = y(percent);
      empty("line", "x1", LEFT, "x2", RIGHT, "y1", at, "y2", at, "stroke", "#DDDDDD");
      label(LEFT - 8, at + 4, "end", 12, number(percent));
    }
  }

  private static double yStep(double highest) {
    return highest > 50 ? 10 : highest > 20 ? 5 : highest > 8 ? 2 : 1;
  }

  /** Marks at 1, 2 and 5 times the powers of ten, or at these alone if there are many. */
  private void xAxis() throws XMLStreamException {
    int[] digits = lastLog - firstLog > 5 ? new int[] {1} : new int[] {1, 2, 5};
    for (int power = (int) Math.floor(firstLog); power <= lastLog; power++) {
      for (int digit : digits) {
        double at = power + Math.log10(digit);
        if (at >= firstLog - 1e-9 && at <= lastLog + 1e-9) {
          xMark(Math.round(digit * Math.pow(10, power)), at);
        }
      }
    }
    empty("line", "x1", LEFT, "x2", RIGHT, "y1", BOTTOM, "y2", BOTTOM, "stroke", "black");
    String unit = "capacity in pages of " + workload.pageTokens() + " tokens";
    label((LEFT + RIGHT) / 2.0, BOTTOM + 44, "middle", 12, unit);
  }

  private void xMark(long pages, double log) throws XMLStreamException {
    double at = x(log);
    empty("line", "x1", at, "x2", at, "y1", TOP, "y2", BOTTOM + 5, "stroke", "#DDDDDD");
    label(at, BOTTOM + 20, "middle", 12, shortly(pages));
  }

  private static String shortly(long pages) {
    return pages >= 1_000_000
        ? pages / 1_000_000 + "M"
        : pages >= 1000 ? pages / 1000 + "k" : Long.toString(pages);
  }

  private double x(double log) {
    return LEFT + (RIGHT - LEFT) * (log - firstLog) / (lastLog - firstLog);
  }

  private double y(double percent) {
    return BOTTOM - (BOTTOM - TOP) * percent / highest;
  }

  private void label(double x, double y, String anchor, int size, String text)
      throws XMLStreamException {
    start("text", "x", x, "y", y, "text-anchor", anchor, "font-size", size);
    xml.writeCharacters(text);
    xml.writeEndElement();
  }

  private void element(String name, String text) throws XMLStreamException {
    start(name);
    xml.writeCharacters(text);
    xml.writeEndElement();
  }

  private void start(String name, Object... attributes) throws XMLStreamException {
    xml.writeStartElement(SVG, name);
    attributes(attributes);
  }

  private void empty(String name, Object... attributes) throws XMLStreamException {
    xml.writeEmptyElement(SVG, name);
    attributes(attributes);
  }

  private void attributes(Object... attributes) throws XMLStreamException {
    for (int i = 0; i < attributes.length; i += 2) {
      Object value = attributes[i + 1];
      xml.writeAttribute(
          attributes[i].toString(), value instanceof Double d ? number(d) : value.toString());
    }
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, "%.1f", value);
    return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
  }
}
