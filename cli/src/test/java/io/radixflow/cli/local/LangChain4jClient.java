package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.exception.InvalidRequestException;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiResponsesChatModel;
import dev.langchain4j.model.openai.OpenAiResponsesChatRequestParameters;
import dev.langchain4j.model.openai.OpenAiResponsesStreamingChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.model.openai.OpenAiTokenUsage;
import dev.langchain4j.model.output.FinishReason;
import dev.langchain4j.service.AiServices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Talks to a gateway as an application with LangChain4j does. */
final class LangChain4jClient {

  private static final String MODEL = "sim";
  private static final int TOKENS = 20;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final String url;

  /**
   * @param url what LangChain4j calls the base URL; ends with {@code /v1}
   */
  LangChain4jClient(String url) {
    this.url = url;
  }

  private ChatModel chat(String model) {
    return chat(model, TOKENS);
  }

  private ChatModel chat(String model, int tokens) {
    return OpenAiChatModel.builder()
        .baseUrl(url)
        .apiKey("none")
        .modelName(model)
        .temperature(0.0)
        .maxCompletionTokens(tokens)
        .timeout(PATIENCE)
        .maxRetries(0)
        .build();
  }

  private StreamingChatModel streamingChat(int tokens) {
    return OpenAiStreamingChatModel.builder()
        .baseUrl(url)
        .apiKey("none")
        .modelName(MODEL)
        .temperature(0.0)
        .maxCompletionTokens(tokens)
        .timeout(PATIENCE)
        .build();
  }

  private static ChatRequest request(ChatMessage... messages) {
    return ChatRequest.builder().messages(messages).build();
  }

  void chatsAndStreams() throws Exception {
    ChatRequest hello =
        request(SystemMessage.from("Be brief."), UserMessage.from("Hello, LangChain4j"));
    ChatResponse whole = chat(MODEL).chat(hello);
    Collector streamed = new Collector(Integer.MAX_VALUE);
    streamingChat(TOKENS).chat(hello, streamed);
    ChatResponse end = streamed.end();
    assertThat(whole.aiMessage().text()).isNotEmpty();
    assertThat(streamed.text.toString())
        .isEqualTo(end.aiMessage().text())
        .isEqualTo(whole.aiMessage().text());
    assertThat(end.tokenUsage().outputTokenCount())
        .isEqualTo(whole.tokenUsage().outputTokenCount())
        .isPositive();
    assertThat(end.finishReason()).isEqualTo(whole.finishReason()).isNotNull();
  }

  void goesOnWithAConversation() {
    UserMessage story = UserMessage.from("Tell me a long story about the sea and the shore");
    ChatResponse first = chat(MODEL).chat(request(story));
    ChatResponse second =
        chat(MODEL)
            .chat(request(story, first.aiMessage(), UserMessage.from("And what comes now?")));
    assertThat(cachedTokens(second)).isPositive();
  }

  private static int cachedTokens(ChatResponse response) {
    return ((OpenAiTokenUsage) response.tokenUsage()).inputTokensDetails().cachedTokens();
  }

  void cancelsAStream() throws Exception {
    // the first piece: a busy gateway may join all others to it
    Collector collector = new Collector(1);
    streamingChat(2000).chat(request(UserMessage.from("Count to a thousand")), collector);
    collector.cancelled.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(chat(MODEL).chat(request(UserMessage.from("Hello"))).aiMessage().text())
        .isNotEmpty();
  }

  void followsAResponse() throws Exception {
    ChatModel responses =
        OpenAiResponsesChatModel.builder()
            .baseUrl(url)
            .apiKey("none")
            .modelName(MODEL)
            .temperature(0.0)
            .maxOutputTokens(TOKENS)
            .store(true)
            .build();
    ChatResponse first = responses.chat(request(UserMessage.from("Hello, responses")));
    ChatRequest next =
        ChatRequest.builder()
            .messages(UserMessage.from("And what comes now?"))
            .parameters(
                OpenAiResponsesChatRequestParameters.builder()
                    .previousResponseId(first.id())
                    .build())
            .build();
    ChatResponse second = responses.chat(next);
    assertThat(first.id()).startsWith("resp_").isNotEqualTo(second.id());
    assertThat(cachedTokens(second)).isPositive();
    Collector streamed = new Collector(Integer.MAX_VALUE);
    OpenAiResponsesStreamingChatModel.builder()
        .baseUrl(url)
        .apiKey("none")
        .modelName(MODEL)
        .temperature(0.0)
        .maxOutputTokens(TOKENS)
        .build()
        .chat(next, streamed);
    assertThat(streamed.end().aiMessage().text())
        .isEqualTo(streamed.text.toString())
        .isEqualTo(second.aiMessage().text());
  }

  private static ChatRequest.Builder withClock(ChatMessage... messages) {
    return ChatRequest.builder()
        .messages(messages)
        .toolSpecifications(
            List.of(
                ToolSpecification.builder()
                    .name("clock")
                    .description("time")
                    .parameters(JsonObjectSchema.builder().addStringProperty("city").build())
                    .build()));
  }

  void callsTools() throws Exception {
    UserMessage ask =
        UserMessage.from("call clock {\"city\": \"Ulm\"}\ncall clock {\"city\": \"Rome\"}");
    ChatRequest request = withClock(ask).build();
    Collector streamed = new Collector(Integer.MAX_VALUE);
    streamingChat(200).chat(request, streamed);
    ChatResponse response = chat(MODEL, 200).chat(request);
    List<ToolExecutionRequest> calls = response.aiMessage().toolExecutionRequests();
    assertThat(calls)
        .extracting(ToolExecutionRequest::arguments)
        .containsExactly("{\"city\": \"Ulm\"}", "{\"city\": \"Rome\"}");
    assertThat(response.finishReason()).isEqualTo(FinishReason.TOOL_EXECUTION);
    assertThat(streamed.end().aiMessage().toolExecutionRequests())
        .extracting(ToolExecutionRequest::name, ToolExecutionRequest::arguments)
        .containsExactlyElementsOf(
            calls.stream().map(call -> tuple(call.name(), call.arguments())).toList());
    ChatResponse answer =
        chat(MODEL, 200)
            .chat(
                withClock(
                        ask,
                        response.aiMessage(),
                        ToolExecutionResultMessage.from(calls.get(0), "noon"),
                        ToolExecutionResultMessage.from(calls.get(1), "one o'clock"))
                    .build());
    assertThat(answer.aiMessage().text()).isEqualTo("It is one o'clock.");
    assertThat(cachedTokens(answer)).isPositive();
  }

  /**
   * An interface that LangChain4j implements: it calls the tools itself until there is an answer.
   */
  private interface Assistant {
    String answer(String question);
  }

  /** Tools of an application. */
  static final class Clock {
    private final List<String> asked = new ArrayList<>();

    @Tool("The time in a city")
    String clock(@P(name = "city", description = "where") String city) {
      asked.add(city);
      return city.equals("Ulm") ? "noon" : "one o'clock";
    }
  }

  void runsToolsUntilThereIsAnAnswer() {
    Clock clock = new Clock();
    Assistant assistant =
        AiServices.builder(Assistant.class)
            .chatModel(chat(MODEL, 200))
            .chatMemory(MessageWindowChatMemory.withMaxMessages(20))
            .tools(clock)
            .build();
    assertThat(assistant.answer("call clock {\"city\": \"Ulm\"}")).isEqualTo("It is noon.");
    String both = "call clock {\"city\": \"Rome\"}\ncall clock {\"city\": \"Ulm\"}";
    assertThat(assistant.answer(both)).isEqualTo("It is noon.");
    assertThat(clock.asked).containsExactly("Ulm", "Rome", "Ulm");
  }

  /** Facts about a light. The schema of a reply is made from this record. */
  record Light(
      @JsonProperty(required = true) Colour colour,
      @JsonProperty(required = true) boolean flashes,
      @JsonProperty(required = true) Tide tide) {}

  enum Colour {
    RED,
    GREEN,
    WHITE
  }

  record Tide(@JsonProperty(required = true) boolean rises) {}

  private interface Lookout {
    Light look(String text);
  }

  void fillsARecord() {
    ChatModel strict =
        OpenAiChatModel.builder()
            .baseUrl(url)
            .apiKey("none")
            .modelName(MODEL)
            .maxCompletionTokens(400)
            .supportedCapabilities(Capability.RESPONSE_FORMAT_JSON_SCHEMA)
            .strictJsonSchema(true)
            .timeout(PATIENCE)
            .maxRetries(0)
            .build();
    Lookout lookout = AiServices.create(Lookout.class, strict);
    for (int i = 0; i < 5; i++) {
      Light light = lookout.look("What do you see? " + i);
      assertThat(light.colour()).isNotNull();
      assertThat(light.tide()).isNotNull();
    }
  }

  void namesWhatIsWrong() {
    ChatRequest tool =
        ChatRequest.builder()
            .messages(UserMessage.from("What time is it?"))
            .toolSpecifications(ToolSpecification.builder().name("a clock").build())
            .build();
    assertThatThrownBy(() -> chat(MODEL).chat(tool))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("tools[0].function.name is");
    ChatResponse other = chat("other").chat(request(UserMessage.from("Hello")));
    assertThat(other.aiMessage().text()).as("any name is the model's").isNotEmpty();
  }

  /** Collects a stream, and cancels it after some pieces. */
  private static final class Collector implements StreamingChatResponseHandler {
    private final StringBuffer text = new StringBuffer();
    private final CompletableFuture<ChatResponse> complete = new CompletableFuture<>();
    private final CompletableFuture<Void> cancelled = new CompletableFuture<>();
    private final int cancelAfter;
    private int pieces;

    Collector(int cancelAfter) {
      this.cancelAfter = cancelAfter;
    }

    ChatResponse end() throws Exception {
      return complete.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void onPartialResponse(PartialResponse piece, PartialResponseContext context) {
      text.append(piece.text());
      if (++pieces == cancelAfter) {
        context.streamingHandle().cancel();
        cancelled.complete(null);
      }
    }

    @Override
    public void onCompleteResponse(ChatResponse response) {
      complete.complete(response);
    }

    @Override
    public void onError(Throwable error) {
      complete.completeExceptionally(error);
      cancelled.completeExceptionally(error);
    }
  }
}
