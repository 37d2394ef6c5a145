package io.radixflow.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.radixflow.cli.Cli;
import io.radixflow.lab.device.GpuFigure;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class BenchGpuCommandTest {

  @Test
  void aFigureIsALineWithItsRatioAndAnObjectOfJson() {
    StringWriter text = new StringWriter();
    ArrayNode json = JsonNodeFactory.instance.arrayNode();
    GpuFigures figures = new GpuFigures(new PrintWriter(text), json);

    figures.show(new GpuFigure("ceiling", "device read", 0.25, 1e12, 0, 0));
    figures.show(new GpuFigure("Qwen3-8B fast", "attention, decode 8", 1e-3, 2.4e9, 4e10, 8e-4));

    assertThat(text.toString().lines().map(line -> line.trim().replaceAll(" +", " ")))
        .containsExactly(
            "time in us GB/s TFLOP/s ratio",
            "ceiling device read 250000.0 4000.0 0.0",
            "Qwen3-8B fast attention, decode 8 1000.0 2400.0 40.0 0.80");
    assertThat(json.at("/0/bytes_per_second").asDouble()).isEqualTo(4e12);
    assertThat(json.at("/0/ratio").asDouble()).isZero();
    assertThat(json.at("/1/group").asText()).isEqualTo("Qwen3-8B fast");
    assertThat(json.at("/1/name").asText()).isEqualTo("attention, decode 8");
    assertThat(json.at("/1/floor_seconds").asDouble()).isEqualTo(8e-4);
    assertThat(json.at("/1/ratio").asDouble()).isEqualTo(0.8);
    assertThat(json.at("/1/flops_per_second").asDouble()).isEqualTo(4e13);
  }

  @Test
  void anErrorIsReportedInOneLine() {
    Cli.Result shape = new Cli().run("bench", "gpu", "--shape=GPT-2");
    assertThat(shape.code()).isNotZero();
    assertThat(shape.err()).contains("--shape 'GPT-2' is not one of");
    Cli.Result speed = new Cli().run("bench", "gpu", "--tflops=0");
    assertThat(speed.code()).isNotZero();
    assertThat(speed.err()).contains("--tflops is 0.0; it must be above 0");
  }
}
