package io.radixflow.cli.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A page of metrics in Prometheus' text format.
 *
 * @param samples its lines without comments
 */
public record Scrape(List<String> samples) {

  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");

  /** Reads a page, as Prometheus does. */
  public static Scrape of(URI page) throws IOException, InterruptedException {
    HttpResponse<String> response =
        HttpClient.newHttpClient()
            .send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    List<String> samples =
        response.body().lines().filter(line -> !line.startsWith("#") && !line.isBlank()).toList();
    assertThat(samples).allMatch(line -> SAMPLE.matcher(line).matches());
    return new Scrape(samples);
  }

  /** The names of all samples. */
  public Set<String> names() {
    return samples.stream()
        .map(line -> line.replaceFirst("[{ ].*", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The sum of all samples of a name that have a text among their labels. */
  public double sum(String name, String label) {
    double sum = 0;
    for (String line : samples) {
      Matcher sample = SAMPLE.matcher(line);
      if (sample.matches()
          && sample.group(1).equals(name)
          && (sample.group(2) == null ? "" : sample.group(2)).contains(label)) {
        sum += Double.parseDouble(sample.group(3));
      }
    }
    return sum;
  }
}
