package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion.VersionFlag;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineClient.Seen;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.Engines;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.models.TestModels;
import io.radixflow.protocol.record.FinishReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random schemas and sampled replies: what is finished meets its schema, and goes on from any of
 * its tokens. {@code -Dradixflow.structured.replies=10000} runs more than the few hundred of a
 * build.
 */
@Timeout(3600)
public class StructuredReplyProperties {
  private static final int REPLIES = Integer.getInteger("radixflow.structured.replies", 300);
  private static final int TOGETHER = 20;

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  @Test
  void finishedRepliesMeetTheirSchema() throws Exception {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT)) {
      assertThat(finished(engine, 0, REPLIES, 400)).isGreaterThan(REPLIES / 2);
    }
  }

  @Test
  @Tag("model")
  void finishedRepliesOfARealModelMeetTheirSchema() throws Exception {
    try (ServedModel model = ModelLoader.open(TestModels.smolLm2());
        Engine engine =
            ContinuousBatchingEngine.open(
                model,
                new DeviceOptions("cpu", 1, KvSpec.Type.F32),
                EngineOptions.builder().contextLength(256).build())) {
      int replies = Math.max(5, REPLIES / 60);
      assertThat(finished(engine, 1_000_000, replies, 60)).isPositive();
    }
  }

  /** Returns how many replies have ended with their turn. */
  private static int finished(Engine engine, int firstSeed, int replies, int maxTokens)
      throws Exception {
    int finished = 0;
    try (EngineClient client = new EngineClient(engine)) {
      for (int from = 0; from < replies; from += TOGETHER) {
        List<Long> ids = new ArrayList<>();
        int to = Math.min(from + TOGETHER, replies);
        for (int i = from; i < to; i++) {
          ids.add(client.submit(request(firstSeed + i, maxTokens).build()));
        }
        for (int i = from; i < to; i++) {
          Seen seen = client.await(ids.get(i - from));
          assertThat(seen.error).as("schema %s", schema(firstSeed + i)).isNull();
          if (seen.finish == FinishReason.STOP) {
            finished++;
            check(schema(firstSeed + i), seen.text.toString());
          }
          int[] ids1 = seen.ids();
          int cut = new Random(i).nextInt(ids1.length + 1);
          int[] rest =
              client
                  .run(request(firstSeed + i, maxTokens).resumed(Arrays.copyOf(ids1, cut)).build())
                  .ids();
          assertThat(Engines.concat(Arrays.copyOf(ids1, cut), rest)).isEqualTo(ids1);
        }
      }
    }
    return finished;
  }

  private static EngineRequestBuilder request(int seed, int maxTokens) {
    GrammarSpec grammar = new GrammarSpec(Kind.JSON_SCHEMA, schema(seed).toString());
    return EngineRequest.builder("r" + seed, () -> EngineClient.prompt(seed, 30), maxTokens)
        .sampling(new SamplingParams(1f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), seed, -1))
        .grammar(prompt -> grammar);
  }

  private static void check(JsonNode schema, String text) throws Exception {
    assertThat(
            JsonSchemaFactory.getInstance(VersionFlag.V202012)
                .getSchema(schema)
                .validate(JSON.readTree(text)))
        .as("schema %s, reply %s", schema, text)
        .isEmpty();
  }

  public static JsonNode schema(int seed) {
    return value(new Random(seed * 7919L + 1), 3);
  }

  private static ObjectNode value(Random random, int depth) {
    ObjectNode schema = JSON.createObjectNode();
    switch (random.nextInt(depth > 0 ? 9 : 6)) {
      case 0 -> schema.put("type", "boolean");
      case 1 -> integer(random, schema);
      case 2 -> schema.put("type", "number").put("minimum", -5).put("maximum", random.nextInt(500));
      case 3 -> text(random, schema);
      case 4 -> schema.putArray("enum").add("a\"é").add(random.nextInt(9)).addNull();
      case 5 -> schema.putArray("type").add("null").add("boolean");
      case 6 -> array(random, schema, depth);
      case 7 -> schema.putArray("anyOf").add(value(random, 0)).add(value(random, depth - 1));
      default -> object(random, schema, depth);
    }
    return schema;
  }

  private static void integer(Random random, ObjectNode schema) {
    schema.put("type", "integer");
    switch (random.nextInt(3)) {
      case 0 -> schema.put("minimum", -20).put("exclusiveMaximum", random.nextInt(3000));
      case 1 ->
          schema
              .put("multipleOf", 1 + random.nextInt(12))
              .put("minimum", 0)
              .put("maximum", 1 << 20);
      default -> {}
    }
  }

  private static void text(Random random, ObjectNode schema) {
    schema.put("type", "string");
    switch (random.nextInt(4)) {
      case 0 -> schema.put("maxLength", random.nextInt(12));
      case 1 -> schema.put("pattern", "^[A-Z][a-zäß]{0,6}( [0-9]+)?$");
      case 2 -> schema.put("format", random.nextBoolean() ? "uuid" : "ipv4");
      default -> schema.put("minLength", 1).put("maxLength", 20);
    }
  }

  private static void array(Random random, ObjectNode schema, int depth) {
    schema.put("type", "array").put("minItems", random.nextInt(2));
    schema.put("maxItems", 1 + random.nextInt(3));
    schema.set("items", value(random, depth - 1));
  }

  private static void object(Random random, ObjectNode schema, int depth) {
    schema.put("type", "object").put("additionalProperties", false);
    ObjectNode properties = schema.putObject("properties");
    int count = 1 + random.nextInt(4);
    for (int i = 0; i < count; i++) {
      properties.set("p" + i, value(random, depth - 1));
    }
    schema.putArray("required").add("p" + random.nextInt(count));
  }
}
