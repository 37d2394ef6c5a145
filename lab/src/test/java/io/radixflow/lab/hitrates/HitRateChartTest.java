package io.radixflow.lab.hitrates;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.workload.Workload;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HitRateChartTest {
  private static final Workload WORKLOAD =
      new Workload("a trace", 16, new CacheWorkload.Builder().build(), List.of());

  private static HitRates.Row row(int capacity, long hits, long bound) {
    return new HitRates.Row(capacity, List.of(new CacheSimulation.Result(hits, 0, 0)), bound);
  }

  private static Document chart(HitRates rates, String title) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    String svg = new HitRateChart(WORKLOAD, rates).svg(title);
    return factory.newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
  }

  private static List<Element> elements(Document document, String name) {
    NodeList nodes = document.getElementsByTagNameNS("http://www.w3.org/2000/svg", name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      elements.add((Element) nodes.item(i));
    }
    return elements;
  }

  private static List<String> texts(Document document) {
    return elements(document, "text").stream().map(Element::getTextContent).toList();
  }

  private static double[] coordinates(Element polyline, int which) {
    return Arrays.stream(polyline.getAttribute("points").split(" "))
        .mapToDouble(point -> Double.parseDouble(point.split(",")[which]))
        .toArray();
  }

  @Test
  void aLineAPolicyAndADashedBoundShareTheAxes() throws Exception {
    HitRates rates =
        new HitRates(
            List.of("lru"), 100, 50, List.of(row(10, 5, 20), row(100, 25, 50), row(1000, 50, 50)));

    Document document = chart(rates, "a & b <c>");

    assertThat(document.getDocumentElement().getLocalName()).isEqualTo("svg");
    assertThat(elements(document, "title").get(0).getTextContent()).isEqualTo("a & b <c>");
    assertThat(texts(document))
        .contains("lru", "bound (no policy)", "10", "100", "1k", "0", "50")
        .contains("capacity in pages of 16 tokens");
    List<Element> lines = elements(document, "polyline");
    assertThat(lines).hasSize(2);
    assertThat(lines.get(0).getAttribute("stroke-dasharray")).isEqualTo("none");
    assertThat(lines.get(1).getAttribute("stroke-dasharray")).isNotEqualTo("none");
    double[] x = coordinates(lines.get(0), 0);
    assertThat(x[1] - x[0]).isEqualTo(x[2] - x[1]);
    double[] policy = coordinates(lines.get(0), 1);
    double[] bound = coordinates(lines.get(1), 1);
    assertThat(policy[0]).isGreaterThan(policy[1]).isGreaterThan(bound[0]);
    assertThat(policy[2]).isEqualTo(bound[2]);
  }

  @Test
  void oneCapacityOrNoHitsAtAllAreDrawnToo() throws Exception {
    Document document =
        chart(new HitRates(List.of("lru"), 0, 0, List.of(row(64, 0, 0))), "nothing");

    assertThat(coordinates(elements(document, "polyline").get(0), 0)).hasSize(1);
    assertThat(document.getDocumentElement().toString()).doesNotContain("NaN");
    assertThat(elements(document, "polyline").get(0).getAttribute("points"))
        .matches("[0-9.]+,[0-9.]+");
  }

  @Test
  void manyDecadesAreMarkedByThePowersOfTenAlone() throws Exception {
    HitRates rates =
        new HitRates(List.of("lru"), 100, 50, List.of(row(1, 5, 20), row(10_000_000, 25, 50)));

    assertThat(texts(chart(rates, "wide"))).contains("1k", "10M").doesNotContain("2k", "5k");
  }
}
