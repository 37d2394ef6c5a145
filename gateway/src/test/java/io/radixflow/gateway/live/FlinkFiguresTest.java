package io.radixflow.gateway.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FlinkFiguresTest {

  private static final int PATIENCE_MILLIS = 60_000;

  private FakeFlink flink;
  private FlinkFigures figures;

  @BeforeEach
  void start() throws IOException {
    flink = new FakeFlink();
    figures = new FlinkFigures(new FlinkRest(flink.url(), PATIENCE_MILLIS));
  }

  @AfterEach
  void stop() {
    flink.close();
  }

  private JsonNode sample() throws IOException {
    return new ObjectMapper().readTree(figures.sample(() -> false));
  }

  @Test
  void figuresOfSubtasksAndEnginesAndCheckpointsComeTogether() throws IOException {
    JsonNode sample = sample();
    assertThat(sample.at("/job").asText()).isEqualTo("RUNNING");
    assertThat(sample.at("/subtasks").asInt()).isEqualTo(2);
    assertThat(sample.at("/engines").asInt()).isEqualTo(1);
    assertThat(sample.at("/uptime_ms").asInt()).isEqualTo(5000);
    assertThat(sample.at("/metrics/turnsAccepted").asInt()).isEqualTo(7);
    assertThat(sample.at("/metrics/pages").asInt()).isEqualTo(605);
    assertThat(sample.at("/metrics/timeToFirstTokenMillis_p99").asDouble()).isEqualTo(12.5);
    assertThat(sample.at("/checkpoints/completed").asInt()).isEqualTo(3);
    assertThat(sample.at("/checkpoints/last_duration_ms").asInt()).isEqualTo(60);
    assertThat(sample.at("/checkpoints/failed_at").asInt()).isEqualTo(50);
    assertThat(sample.toString()).doesNotContain("secret");
  }

  @Test
  void aJobWhoseSubtasksDoNotRunYetHasNoMetrics() throws IOException {
    flink.answer("/v1/jobs/overview", "{'jobs':[" + FakeFlink.job("RESTARTING") + "]}");
    flink.metrics("[]");
    JsonNode sample = sample();
    assertThat(sample.at("/job").asText()).isEqualTo("RESTARTING");
    assertThat(sample.at("/metrics").isEmpty()).isTrue();
    assertThat(sample.at("/metrics").isObject()).isTrue();
  }

  @Test
  void aJobThatHasEndedIsNotShown() {
    flink.answer("/v1/jobs/overview", "{'jobs':[" + FakeFlink.job("FAILED") + "]}");
    assertThatThrownBy(this::sample).hasMessageContaining("no job of Radixflow");
  }

  @Test
  void metricsThatAreNoNumbersAreLeftOut() throws IOException {
    flink.metrics("[{'id':'serving.serving.turnsAccepted','sum':'NaN','max':'NaN'},{'id':5},7]");
    assertThat(sample().at("/metrics/turnsAccepted").asInt()).isZero();
  }

  @Test
  void whatIsNotFlinkIsSaidToBeNot() {
    flink.answer("/v1/jobs/overview", "<html>a page</html>");
    assertThatThrownBy(this::sample)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is not Flink");
    flink.answer("/v1/jobs/overview", "[[[");
    assertThatThrownBy(this::sample).isInstanceOf(IOException.class);
    flink.answer("/v1/jobs/overview", "'text'");
    assertThatThrownBy(this::sample).hasMessageContaining("no job of Radixflow");
  }

  @Test
  void anAnswerThatIsTooLongIsNotRead() {
    flink.answer("/v1/jobs/overview", "[" + "7,".repeat(5 << 20) + "7]");
    assertThatThrownBy(this::sample).hasMessageContaining("too long");
  }

  @Test
  void aFlinkThatIsAbsentOrSaysNothingIsGivenUp() throws IOException {
    String url = flink.url();
    flink.close();
    FlinkRest absent = new FlinkRest(url, PATIENCE_MILLIS);
    assertThatThrownBy(() -> absent.get("jobs/overview")).hasMessageContaining("does not answer");
    try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      FlinkRest slow = new FlinkRest("http://127.0.0.1:" + silent.getLocalPort(), 50);
      assertThatThrownBy(() -> slow.get("jobs/overview")).hasMessageContaining("does not answer");
    }
  }
}
