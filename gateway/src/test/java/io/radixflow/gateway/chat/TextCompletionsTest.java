package io.radixflow.gateway.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextCompletionsTest {

  private static final String PATH = "/v1/completions";

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> complete(String body) {
    return gateway.send(gateway.post(PATH, body));
  }

  @Test
  void aPromptIsCompletedAsItIs() {
    CompletableFuture<HttpResponse<String>> response =
        complete("{\"prompt\":\"Once upon\",\"model\":\"sim\",\"ignore_eos\":true}");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.messages()).hasSize(1);
    assertThat(event.messages().get(0).content()).isEqualTo("Once upon");
    assertThat(event.options().maxTokens()).isEqualTo(16);
    assertThat(event.options().ignoreEos()).isTrue();
    gateway.topics().piece(event, 0, " a time");
    gateway.topics().end(event, 7, "length", new Usage(2, 0, 16));
    JsonNode json = GatewayFixture.json(response.join().body());
    assertThat(json.at("/object").asText()).isEqualTo("text_completion");
    assertThat(json.at("/choices/0/text").asText()).isEqualTo(" a time");
    assertThat(json.at("/choices/0/finish_reason").asText()).isEqualTo("length");
    assertThat(json.at("/usage/completion_tokens").asInt()).isEqualTo(16);
  }

  @Test
  void tokensThatArePartsOfACharacterHaveTheirBytesAndTheCharactersOffset() {
    CompletableFuture<HttpResponse<String>> response =
        complete("{\"prompt\":\"a\",\"logprobs\":1}");
    ConversationEvent event = gateway.topics().next();
    gateway
        .topics()
        .logprobs(
            event,
            0,
            "x\uD83D\uDE00y",
            new TokenLogprob(1, "x\uFFFD", -1, List.of(), List.of(0x78, 0xf0)),
            new TokenLogprob(2, "\uFFFD\uFFFD\uFFFD", -1, List.of(), List.of(0x9f, 0x98, 0x80)),
            new TokenLogprob(3, "y", -1, List.of()));
    gateway.topics().end(event, 3, "stop", Usage.NONE);
    JsonNode logprobs = GatewayFixture.json(response.join().body()).at("/choices/0/logprobs");
    assertThat(logprobs.at("/tokens").toString())
        .isEqualTo("[\"bytes:\\\\x78\\\\xf0\",\"bytes:\\\\x9f\\\\x98\\\\x80\",\"y\"]");
    assertThat(logprobs.at("/text_offset").toString()).isEqualTo("[0,1,2]");
  }

  @Test
  void everyChoiceOfEveryPromptIsATurnOfASessionOfItsOwn() {
    CompletableFuture<HttpResponse<String>> response =
        complete("{\"prompt\":[\"a\",\"b\"],\"n\":2,\"seed\":1,\"stream\":true}");
    for (int i = 0; i < 4; i++) {
      ConversationEvent event = gateway.topics().next();
      assertThat(event.messages().get(0).content()).isEqualTo(i < 2 ? "a" : "b");
      assertThat(event.session()).endsWith("." + i);
      assertThat(event.options().seed()).isEqualTo(1 + i % 2);
      gateway.topics().piece(event, 0, "x" + i);
      gateway.topics().end(event, 2, "stop", Usage.NONE);
    }
    assertThat(response.join().body())
        .contains("\"index\":3,\"text\":\"x3\"")
        .endsWith("data: [DONE]\n\n");
  }

  @Test
  void usageCountsEveryPromptOnce() {
    CompletableFuture<HttpResponse<String>> response =
        complete("{\"prompt\":[\"a\",\"b\"],\"n\":2}");
    for (int i = 0; i < 4; i++) {
      Usage usage = i < 2 ? new Usage(10, i, 1) : new Usage(20, 4, 3);
      gateway.topics().end(gateway.topics().next(), 0, "stop", usage);
    }
    JsonNode usage = GatewayFixture.json(response.join().body()).at("/usage");
    assertThat(usage.at("/prompt_tokens").asInt()).isEqualTo(10 + 20);
    assertThat(usage.at("/completion_tokens").asInt()).isEqualTo(2 * 1 + 2 * 3);
    assertThat(usage.at("/prompt_tokens_details/cached_tokens").asInt()).isEqualTo(1 + 4);
  }

  @Test
  void whatHoldsTheReplyGoesToTheJobByItsOlderNamesToo() {
    complete("{\"prompt\":\"a\",\"guided_regex\":\"[a-c]+\"}");
    assertThat(gateway.topics().next().options().structuredOutputs())
        .isEqualTo("{\"regex\":\"[a-c]+\"}");
    complete("{\"prompt\":\"a\",\"guided_choice\":[\"b\"]}");
    assertThat(gateway.topics().next().options().structuredOutputs())
        .isEqualTo("{\"choice\":[\"b\"]}");
    complete("{\"prompt\":\"a\",\"response_format\":{\"type\":\"json_object\"}}");
    assertThat(gateway.topics().next().options().responseFormat()).contains("json_object");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'regex':'[a-c]+' | {'regex':'[a-c]+'}",
        "'grammar':'root ::= [a]' | {'grammar':'root ::= [a]'}",
        "'ebnf':'root ::= [a]','grammar':'' | {'grammar':'root ::= [a]'}",
        "'json_schema':{'type':'null'} | {'json':{'type':'null'}}",
        "'json_schema':'{}','regex':null | {'json':'{}'}",
        "'structural_tag':{'format':{'type':'any_text'}} |"
            + " {'structural_tag':{'format':{'type':'any_text'}}}",
        "'response_format':{'type':'text'},'regex':'a' | {'regex':'a'}",
        "'response_format':{'type':'json_object','schema':{'type':'null'}} |"
            + " {'json':{'type':'null'}}",
        "'response_format':{'type':'json_object','schema':{}} | {'json':{'type':'object'}}",
        "'response_format':{'type':'json_schema','schema':{'type':'null'}} |"
            + " {'json':{'type':'null'}}",
        "'response_format':{'type':'json','value':{'type':'null'}} | {'json':{'type':'null'}}",
        "'response_format':{'type':'regex','pattern':'a'} | {'regex':'a'}",
        "'response_format':{'type':'regex','value':'a'} | {'regex':'a'}",
        "'response_format':{'type':'grammar','grammar':'root ::= [a]'} | {'grammar':'root ::="
            + " [a]'}",
        "'response_format':{'type':'structural_tag','triggers':['<']} |"
            + " {'structural_tag':{'type':'structural_tag','triggers':['<']}}",
        "'structured_outputs':{'json_object':true} | {'json':{'type':'object'}}",
        "'structured_outputs':{'regex':'a','json_object':false,'disable_any_whitespace':true} |"
            + " {'regex':'a'}",
        "'structured_outputs':{'structural_tag':'{}'} | {'structural_tag':'{}'}"
      })
  void whatHoldsTheReplyIsReadByTheNamesOfOtherServers(String field, String outputs) {
    complete("{\"prompt\":\"a\"," + field.replace('\'', '"') + "}");

    assertThat(gateway.topics().next().options().structuredOutputs())
        .isEqualTo(outputs.replace('\'', '"'));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'regex':'a','grammar':'root ::= [a]'",
        "'response_format':{'type':'json_object'},'ebnf':'root ::= [a]'",
        "'structured_outputs':{'regex':'a'},'json_schema':{}",
        "'guided_json':{},'regex':'a'",
        "'response_format':{'type':'json_object'},'guided_choice':['a']"
      })
  void twoFieldsThatHoldTheReplyAreRefused(String fields) {
    HttpResponse<String> response =
        complete("{\"prompt\":\"a\"," + fields.replace('\'', '"') + "}").join();

    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("give only one of them");
  }

  @Test
  void thePromptIsEchoedWithItsLogProbabilities() {
    for (String prompt : List.of("\"x\u00e9\"", "[7,8]")) {
      CompletableFuture<HttpResponse<String>> response =
          complete("{\"prompt\":" + prompt + ",\"echo\":true,\"logprobs\":1,\"max_tokens\":0}");
      ConversationEvent event = gateway.topics().next();
      assertThat(event.options().maxTokens()).isZero();
      assertThat(event.options().tokens().promptLogprobs()).isOne();
      assertThat(Message.promptIds(event.messages()))
          .isEqualTo(prompt.startsWith("[") ? new int[] {7, 8} : null);
      gateway.topics().prompt(event, prompt(0, 7, "x", Float.NaN));
      gateway.topics().prompt(event, prompt(1, 8, "\u00e9", -2));
      gateway.topics().end(event, 0, "length", new Usage(2, 0, 0));
      JsonNode choice = GatewayFixture.json(response.join().body()).at("/choices/0");
      assertThat(choice.at("/text").asText()).isEqualTo("x\u00e9");
      assertThat(choice.at("/finish_reason").asText()).isEqualTo("length");
      assertThat(choice.at("/logprobs").toString())
          .isEqualTo(
              "{\"tokens\":[\"x\",\"\u00e9\"],\"token_logprobs\":[null,-2.0],"
                  + "\"top_logprobs\":[null,{\"\u00e9\":-2.0,\"z\":-0.5}],"
                  + "\"text_offset\":[0,1]}");
    }
  }

  private static PromptTokens prompt(int offset, int id, String text, float logprob) {
    List<TopLogprob> top = offset == 0 ? List.of() : List.of(new TopLogprob(9, "z", -0.5f, null));
    return new PromptTokens(
        offset, List.of(id), text, List.of(new TokenLogprob(id, text, logprob, top)));
  }

  @Test
  void aStreamBeginsWithTheEchoAndHasOffsetsBehindIt() {
    CompletableFuture<HttpResponse<String>> response =
        complete("{\"prompt\":\"x\u00e9\",\"echo\":true,\"logprobs\":0,\"stream\":true}");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().prompt(event, prompt(0, 7, "x", Float.NaN));
    gateway.topics().logprobs(event, 0, "ab", new TokenLogprob(1, "ab", -1, List.of()));
    gateway.topics().end(event, 2, "stop", Usage.NONE);
    String body = response.join().body();
    assertThat(body).contains("\"text_offset\":[0").contains("\"token_logprobs\":[null");
    assertThat(body).contains("\"x").contains("ab");

    response = complete("{\"prompt\":\"x\u00e9\",\"echo\":true,\"stream\":true}");
    event = gateway.topics().next();
    assertThat(event.options().tokens()).as("the request has the text").isNull();
    gateway.topics().piece(event, 0, "ab");
    gateway.topics().end(event, 2, "stop", Usage.NONE);
    assertThat(response.join().body())
        .containsSubsequence("\"text\":\"x\u00e9\"", "\"text\":\"ab\"");
  }

  @Test
  void idsAndLogProbabilitiesOfThePromptAreShownAsVllmShowsThem() {
    CompletableFuture<HttpResponse<String>> response =
        complete(
            "{\"prompt\":[7,8],\"prompt_logprobs\":1,\"return_token_ids\":true,"
                + "\"return_tokens_as_token_ids\":true,\"logprobs\":0,\"stop_token_ids\":[3]}");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().tokens().showsTokenIds()).isTrue();
    gateway.topics().prompt(event, prompt(0, 7, "x", Float.NaN));
    gateway.topics().prompt(event, prompt(1, 8, "y", -2));
    gateway.topics().tokens(event, 0, "ab", List.of(1, 3), 3);
    JsonNode choice = GatewayFixture.json(response.join().body()).at("/choices/0");
    assertThat(choice.at("/prompt_token_ids").toString()).isEqualTo("[7,8]");
    assertThat(choice.at("/token_ids").toString()).isEqualTo("[1,3]");
    assertThat(choice.at("/stop_reason").asInt()).isEqualTo(3);
    assertThat(choice.at("/text").asText()).isEqualTo("ab");
    assertThat(choice.at("/prompt_logprobs").toString())
        .isEqualTo(
            "[null,{\"9\":{\"logprob\":-0.5,\"rank\":1,\"decoded_token\":\"z\"},"
                + "\"8\":{\"logprob\":-2.0,\"rank\":null,\"decoded_token\":\"y\"}}]");
    assertThat(choice.at("/logprobs/tokens").toString())
        .isEqualTo("[\"token_id:1\",\"token_id:3\"]");
    assertThat(choice.at("/logprobs/top_logprobs").toString())
        .matches("\\[\\{\"token_id:1\":-[0-9.]+},\\{\"token_id:3\":-[0-9.]+}]");
  }

  @Test
  void unknownFieldsWithinFieldsAreIgnoredAndNamed() {
    CompletableFuture<HttpResponse<String>> response =
        complete(
            "{\"prompt\":\"a\",\"stream\":true,\"stream_options\":{\"include_usage\":true,"
                + "\"include_obfuscation\":true},\"response_format\":{\"type\":\"text\",\"x\":1}}");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(response.join().headers().firstValue("X-Radixflow-Ignored").orElseThrow())
        .contains("stream_options.include_obfuscation", "response_format.x");
    assertThat(response.join().body()).contains("\"completion_tokens\":0");
  }

  @Test
  void whatIsNotServedIsRefusedByName() {
    for (String field :
        List.of(
            "\"suffix\":\"x\"",
            "\"best_of\":3",
            "\"tool_choice\":\"required\"",
            "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
            "\"prompt\":[1,-2]",
            "\"prompt\":[[]]",
            "\"prompt\":[1.5]",
            "\"prompt\":[\"a\",5]",
            "\"bad_words\":[\"\"]",
            "\"prompt_logprobs\":21",
            "\"prompt\":\"\"",
            "\"prompt\":5",
            "\"prompt\":[]",
            "\"logprobs\":true")) {
      String body =
          field.startsWith("\"prompt\"") ? "{" + field + "}" : "{\"prompt\":\"a\"," + field + "}";
      HttpResponse<String> response = complete(body).join();
      assertThat(response.statusCode()).as(field).isEqualTo(400);
      String name = field.substring(1, field.indexOf('"', 1));
      assertThat(GatewayFixture.json(response.body()).at("/error/param").asText())
          .as(field)
          .isEqualTo(name);
    }
    assertThat(gateway.topics().hasEvents()).isFalse();
  }
}
