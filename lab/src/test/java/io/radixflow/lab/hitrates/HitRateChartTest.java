package io.radixflow.lab.hitrates;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.workload.Workload;
import java.io.StringReader;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HitRateChartTest {
  private static final Workload WORKLOAD =
      new Workload("a trace", 16, new CacheWorkload.Builder().build(), List.of());

  private static HitRates.Row row(int capacity, long hits, long bound) {
    return new HitRates.Row(capacity, List.of(new CacheSimulation.Result(hits, 0, 0)), bound);
  }

  private static HitRateChart chart(HitRates rates) {
    return new HitRateChart(WORKLOAD, rates, "a & b <c>");
  }

  private static HitRates twoLines() {
    return new HitRates(
        List.of("lru"), 100, 50, List.of(row(10, 5, 20), row(100, 25, 50), row(1000, 50, 50)));
  }

  private static List<Element> paths(HitRateChart chart) throws Exception {
    // the DTD is not fetched
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
    NodeList nodes =
        factory
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(chart.svg())))
            .getElementsByTagName("path");
    return IntStream.range(0, nodes.getLength()).mapToObj(i -> (Element) nodes.item(i)).toList();
  }

  @Test
  void eachPolicyAndTheBoundHaveALineWithTheirRatesInPercent() {
    XYChart chart = chart(twoLines()).chart();

    assertThat(chart.getSeriesCollection())
        .extracting(XYSeries::getName)
        .containsExactly("lru", "bound (no policy)");
    assertThat(chart.getSeries("lru").getXData()).containsExactly(10, 100, 1000);
    assertThat(chart.getSeries("lru").getYData()).containsExactly(5, 25, 50);
    assertThat(chart.getSeries("bound (no policy)").getYData()).containsExactly(20, 50, 50);
  }

  @Test
  void theBoundIsDashed() throws Exception {
    assertThat(chart(twoLines()).svg()).contains("stroke-dasharray:6,4");
  }

  @Test
  void theSameRatesGiveTheSameDocument() throws Exception {
    assertThat(chart(twoLines()).svg()).isEqualTo(chart(twoLines()).svg());
  }

  @Test
  void aSingleCapacityWithoutHitsIsDrawn() throws Exception {
    HitRateChart chart = chart(new HitRates(List.of("lru"), 0, 0, List.of(row(64, 0, 0))));

    assertThat(paths(chart)).isNotEmpty();
    assertThat(chart.svg()).doesNotContain("NaN").contains("<circle");
  }

  @Test
  void capacitiesAreLabelledInThousandsAndMillions() {
    assertThat(List.of(500.0, 20_000.0, 3_000_000.0))
        .extracting(HitRateChart::label)
        .containsExactly("500", "20k", "3M");
  }
}
