package io.radixflow.lab.hitrates;

import io.radixflow.lab.workload.Workload;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Dimension;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Locale;
import java.util.function.ToLongFunction;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGraphics2D;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.ChartTheme;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;
import org.w3c.dom.Document;

/**
 * Draws hit rates as an SVG line chart: capacity on a logarithmic axis, one line for each policy,
 * and the bound dashed. Letters are drawn as outlines, so the machine needs a font.
 */
final class HitRateChart {
  private static final String SVG = "http://www.w3.org/2000/svg";
  private static final int WIDTH = 860;
  private static final int HEIGHT = 480;
  private static final BasicStroke DASHED =
      new BasicStroke(
          1.6f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 10, new float[] {6, 4}, 0);

  /** Colours that colour-blind readers can distinguish (Okabe and Ito 2008). */
  private static final Color[] COLOURS = {
    new Color(0x0072B2), new Color(0xD55E00), new Color(0x009E73), new Color(0xCC79A7),
    new Color(0xE69F00), new Color(0x56B4E9), new Color(0x8C6D31), new Color(0x7F7F7F),
    new Color(0x332288), new Color(0x882255)
  };

  private final HitRates rates;
  private final XYChart chart;

  HitRateChart(Workload workload, HitRates rates, String title) {
    this.rates = rates;
    chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .theme(ChartTheme.Matlab)
            .title(title)
            .xAxisTitle("capacity in pages of " + workload.pageTokens() + " tokens")
            .yAxisTitle(workload.format() + ", hit rate in %")
            .build();
    XYStyler styler = chart.getStyler();
    styler.setXAxisLogarithmic(true).setYAxisMin(0.0);
    styler.setXAxisTickLabelsFormattingFunction(HitRateChart::label);
    styler.setLocale(Locale.ROOT);
    for (int i = 0; i < rates.policies().size(); i++) {
      int policy = i;
      // the first lines are the broadest, so that lines that coincide all show
      float width = 1.6f + 0.6f * (rates.policies().size() - i);
      add(
          rates.policies().get(i),
          row -> row.results().get(policy).hits(),
          COLOURS[i % COLOURS.length],
          new BasicStroke(width));
    }
    add("bound (no policy)", HitRates.Row::bound, Color.BLACK, DASHED);
  }

  private void add(
      String name, ToLongFunction<HitRates.Row> hits, Color colour, BasicStroke stroke) {
    double[] capacities = rates.rows().stream().mapToDouble(HitRates.Row::capacity).toArray();
    double[] percents =
        rates.rows().stream().mapToDouble(row -> rates.percent(hits.applyAsLong(row))).toArray();
    XYSeries series = chart.addSeries(name, capacities, percents);
    series.setLineStyle(stroke);
    series.setLineColor(colour);
    series.setMarkerColor(colour);
    series.setMarker(SeriesMarkers.CIRCLE);
  }

  /** The label of a number of pages on the axis, such as 500, 20k or 3M. */
  static String label(double pages) {
    long whole = Math.round(pages);
    return whole >= 1_000_000
        ? whole / 1_000_000 + "M"
        : whole >= 1000 ? whole / 1000 + "k" : Long.toString(whole);
  }

  XYChart chart() {
    return chart;
  }

  String svg() throws IOException {
    Document document;
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
      document =
          factory.newDocumentBuilder().getDOMImplementation().createDocument(SVG, "svg", null);
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
    SVGGraphics2D graphics = new SVGGraphics2D(document);
    graphics.setSVGCanvasSize(new Dimension(WIDTH, HEIGHT));
    chart.paint(graphics, WIDTH, HEIGHT);
    StringWriter text = new StringWriter();
    graphics.stream(text, true);
    return text.toString();
  }
}
