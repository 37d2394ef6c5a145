package io.radixflow.kernels.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Candidates and probabilities of sampling.jsonl, computed once in float64. */
class SamplerConformanceTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  static List<JsonNode> cases() throws IOException {
    try (InputStream in = SamplerConformanceTest.class.getResourceAsStream("sampling.jsonl")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return JSON.readerFor(JsonNode.class).<JsonNode>readValues(text).readAll();
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void candidatesAndTheirSharesAreTheReferences(JsonNode expected) {
    float[] logits = new float[expected.get("logits").size()];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) expected.get("logits").get(i).doubleValue();
    }
    SamplingParams params = params(expected);
    double[] shares = shares(logits, params);
    JsonNode ids = expected.get("candidates");
    assertThat(IntStream.range(0, shares.length).filter(i -> shares[i] > 0))
        .containsExactlyInAnyOrderElementsOf(
            JSON.convertValue(
                ids, JSON.getTypeFactory().constructCollectionType(List.class, Integer.class)));
    for (int rank = 0; rank < ids.size(); rank++) {
      double share = expected.get("probs").get(rank).doubleValue();
      assertThat(shares[ids.get(rank).intValue()]).isCloseTo(share, within(1e-6));
    }
  }

  private static SamplingParams params(JsonNode line) {
    return new SamplingParams(
        (float) line.get("temperature").doubleValue(),
        line.get("topK").intValue(),
        (float) line.get("topP").doubleValue(),
        (float) line.get("minP").doubleValue(),
        1,
        0,
        0,
        Map.of(),
        0,
        -1);
  }

  private static double[] shares(float[] logits, SamplingParams params) {
    Sampler sampler = new Sampler(logits.length);
    SamplingState state = new SamplingState(params, new int[0], new int[0], logits.length);
    int drawn = sampler.sample(logits, 0, logits.length, state);
    double[] shares = new double[logits.length];
    if (params.temperature() == 0) {
      shares[drawn] = 1;
      return shares;
    }
    Candidates candidates = sampler.candidates();
    for (int i = 0; i < candidates.count(); i++) {
      shares[candidates.id(i)] = candidates.weight(i) / (double) candidates.total();
    }
    return shares;
  }
}
