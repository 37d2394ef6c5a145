package io.radixflow.lab.bench.speculation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A prompt of the benchmark.
 *
 * @param kind the kind of question; figures are grouped by it
 * @param prediction a text that the reply may repeat, or null
 * @param schema the schema that constrains the reply, or null
 */
record BenchPrompt(String kind, List<Message> messages, String prediction, GrammarSpec schema) {
  private static final String RESOURCE = "prompts.jsonl";
  private static final ObjectMapper JSON = new ObjectMapper();

  static List<BenchPrompt> all() throws IOException {
    List<BenchPrompt> prompts = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                BenchPrompt.class.getResourceAsStream(RESOURCE), StandardCharsets.UTF_8))) {
      for (String line; (line = lines.readLine()) != null; ) {
        prompts.add(of(JSON.readTree(line)));
      }
    }
    return prompts;
  }

  private static BenchPrompt of(JsonNode line) {
    List<Message> messages = new ArrayList<>();
    for (JsonNode each : line.get("messages")) {
      messages.add(new Message(each.get("role").asText(), each.get("content").asText()));
    }
    JsonNode prediction = line.get("prediction");
    JsonNode schema = line.get("schema");
    return new BenchPrompt(
        line.get("kind").asText(),
        messages,
        prediction == null ? null : prediction.asText(),
        schema == null ? null : new GrammarSpec(GrammarSpec.Kind.JSON_SCHEMA, schema.toString()));
  }

  /** Returns the same prompt with a greeting before its last message. */
  BenchPrompt greeting() {
    List<Message> greeting = new ArrayList<>(messages);
    Message last = greeting.remove(greeting.size() - 1);
    greeting.add(new Message(last.role(), "Hello! " + last.content()));
    return new BenchPrompt(kind, greeting, prediction, schema);
  }

  /** Returns a builder of a request for at most {@code tokens} tokens. */
  EngineRequestBuilder request(ServedModel model, int tokens) {
    EngineRequestBuilder request =
        EngineRequest.builder(
            "bench",
            () -> model.chatTemplate().encode(messages, true, TemplateOptions.NONE),
            tokens);
    if (prediction != null) {
      request.prediction(() -> model.tokenizer().encode(prediction));
    }
    if (schema != null) {
      request.grammar(ids -> schema);
    }
    return request;
  }
}
