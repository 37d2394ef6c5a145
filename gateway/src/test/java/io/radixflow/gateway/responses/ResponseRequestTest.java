package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.text.template.Message;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseRequestTest {

  private static ResponseRequest read(String json) throws JsonProcessingException {
    String quoted = json.replace('\'', '"');
    return ResponseRequest.of(
        JsonObject.of(new ObjectMapper().readTree(quoted), "the body"),
        42,
        "the-model",
        true,
        false);
  }

  /** LlamaIndex sends OpenAI's default with each request. */
  @ParameterizedTest
  @ValueSource(strings = {"auto", "disabled"})
  void truncationIsAsTheRequestSaysItOrElseAsTheJobDoesIt(String asked) throws Exception {
    ResponseRequest request = read("{'input':'a','truncation':'" + asked + "'}");
    assertThat(request.settings().dropsOldest()).isEqualTo(asked.equals("auto"));
    assertThat(request.options().truncation()).isEqualTo(asked);
    ResponseRequest silent = read("{'input':'a','truncation':null}");
    assertThat(silent.settings().dropsOldest()).isTrue();
    assertThat(silent.options()).isNull();
    JsonObject body = JsonObject.of(new ObjectMapper().readTree("{\"input\":\"a\"}"), "it");
    assertThat(ResponseRequest.of(body, 42, "m", false, false).settings().dropsOldest()).isFalse();
  }

  @Test
  void aTextIsOneMessageOfTheUser() throws Exception {
    ResponseRequest request = read("{'input':'Hi','model':'m'}");
    assertThat(request.input()).containsExactly(new Message("user", "Hi"));
    assertThat(request.settings().model()).isEqualTo("m");
    assertThat(request.settings().store()).isTrue();
    assertThat(request.ignored()).isEmpty();
  }

  @Test
  void itemsOfAllFormsAreMessages() throws Exception {
    ResponseRequest request =
        read(
            "{'input':[{'role':'developer','content':'Be brief.'},"
                + "{'type':'message','role':'user','content':[{'type':'input_text','text':'a'},"
                + "{'type':'input_text','text':'b'}]},"
                + "{'type':'reasoning','id':'rs_1','summary':[]},"
                + "{'id':'msg_1','type':'message','status':'completed','role':'assistant',"
                + "'content':[{'type':'output_text','text':'c','annotations':[]}]}]}");
    assertThat(request.input())
        .containsExactly(
            new Message("system", "Be brief."),
            new Message("user", "ab"),
            new Message("assistant", "c"));
    assertThat(request.ignored()).containsExactly("input[2].type=reasoning");
  }

  @Test
  void fieldsWithoutEffectAreNamed() throws Exception {
    ResponseRequest request =
        read(
            "{'input':'Hi','reasoning':{'effort':'low'},'service_tier':'auto','nonsense':1,"
                + "'text':{'verbosity':'low','format':{'type':'text'}},'include':['x'],"
                + "'tools':[],'tool_choice':'auto','parallel_tool_calls':true,"
                + "'stream_options':{'include_obfuscation':false}}");
    assertThat(request.ignored())
        .containsExactly("service_tier", "nonsense", "text.verbosity", "include=\"x\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'input':'a','tools':[{'type':'web_search'}]} | tools[0].type is \"web_search\", which is"
            + " not served yet",
        "{'input':'a','tool_choice':'always'} | tool_choice is \"always\"",
        "{'input':'a','tool_choice':{'type':'mcp'}} | tool_choice.type is \"mcp\"",
        "{'input':'a','tools':[{'type':'function'}]} | tools[0].name is missing",
        "{'input':[{'type':'function_call','call_id':'c','arguments':''}]} | input[0].name is"
            + " missing",
        "{'input':'a','text':{'format':{'type':'json_schema'}}} | text.format.name is missing",
        "{'input':'a','text':{'format':{'type':'json_schema','name':'n'}}} | text.format.schema is"
            + " missing",
        "{'input':'a','text':{'format':{'type':'json_schema','name':'n','schema':[]}}} |"
            + " text.format.schema is an array",
        "{'input':'a','text':{'format':{'type':'grammar'}}} | text.format.type is \"grammar\"",
        "{'input':'a','text':{'format':{}}} | text.format.type is missing",
        "{'input':'a','prompt':{'id':'p'}} | prompt is not served yet",
        "{'input':[{'type':'function_call_output','output':'x'}]} | input[0].call_id is missing",
        "{'input':[{'role':'user','content':[{'image_url':'x'}]}]} | input[0].content[0].type",
        "{'input':[{'role':'a king','content':'a'}]} | input[0].role",
        "{'input':[{'content':'a'}]} | input[0].role is missing",
        "{'input':7} | input is a number",
        "{'input':'a','background':true,'store':false} | background needs store",
        "{'input':'a','conversation':'c','previous_response_id':'r'} | exclude each other",
        "{'input':'a','conversation':{}} | conversation.id is missing",
        "{'input':'a','temperature':3} | temperature",
        "{'input':'a','max_output_tokens':0} | max_output_tokens",
        "{'input':'a','truncation':'some'} | truncation",
        "{'input':'a','metadata':{'radixflow.response':'x'}} | metadata has the key",
        "{'input':'a','metadata':{'k':1}} | metadata.k",
      })
  void whatWouldChangeTheMeaningIsRefusedByName(String json, String message) {
    assertThatThrownBy(() -> read(json))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(message);
  }

  @Test
  void toolsOfOtherTypesAreLeftOutBesideFunctionsAndNamed() throws Exception {
    ResponseRequest request =
        read(
            "{'input':'a','tools':[{'type':'function','name':'exec_command','strict':false},"
                + "{'type':'namespace','name':'agents','description':'d','tools':[{'type':"
                + "'function','name':'spawn'}]},{'type':'web_search','external_web_access':true}],"
                + "'store':false,'include':['reasoning.encrypted_content'],"
                + "'reasoning':{'summary':'auto'},'client_metadata':{'k':'v'}}");
    assertThat(request.options().tools()).contains("exec_command").doesNotContain("spawn");
    assertThat(request.ignored())
        .containsExactly(
            "client_metadata",
            "tools[1].type=\"namespace\"",
            "tools[2].type=\"web_search\"",
            "reasoning.summary");
  }

  @Test
  void theFormatOfTextIsTheFormOfTheReply() throws Exception {
    assertThat(
            read("{'input':'a','text':{'format':{'type':'json_object'}}}")
                .options()
                .responseFormat())
        .isEqualTo("{\"type\":\"json_object\"}");
    ResponseRequest schema =
        read(
            "{'input':'a','text':{'format':{'type':'json_schema','name':'n','strict':true,"
                + "'schema':{'type':'object'},'more':1}}}");
    assertThat(schema.options().responseFormat())
        .isEqualTo(
            "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":"
                + "{\"type\":\"object\"},\"strict\":true}}");
    assertThat(schema.ignored()).containsExactly("text.format.more");
  }

  @Test
  void whatHoldsCallsIsPassedOn() throws Exception {
    ResponseRequest request =
        read(
            "{'input':'a','tools':[{'type':'function','name':'f','strict':true}],"
                + "'tool_choice':{'type':'function','name':'f'},'parallel_tool_calls':false}");
    assertThat(request.options().tools()).contains("\"strict\":true");
    assertThat(request.options().toolChoice())
        .isEqualTo("{\"type\":\"function\",\"function\":{\"name\":\"f\"}}");
    assertThat(request.options().parallelToolCalls()).isFalse();
    assertThat(read("{'input':'a','tool_choice':'required'}").options().toolChoice())
        .isEqualTo("required");
  }

  @Test
  void optionsOfSamplingArePassedOn() throws Exception {
    ResponseRequest request =
        read(
            "{'input':'a','temperature':0.5,'top_p':0,'max_output_tokens':20,'top_logprobs':3,"
                + "'seed':4,'prompt_cache_retention':'24h'}");
    assertThat(request.options().temperature()).isEqualTo(0.5);
    assertThat(request.options().topP()).isEqualTo(1e-6);
    assertThat(request.options().maxTokens()).isEqualTo(20);
    assertThat(request.options().logprobs()).isTrue();
    assertThat(request.options().topLogprobs()).isEqualTo(3);
    assertThat(request.pinMillis()).isEqualTo(86_400_000);
  }

  @Test
  void settingsAreKeptAndComeBackEqual() throws Exception {
    ResponseSettings settings =
        read("{'input':'a','model':'m','temperature':0.5,'top_p':0.25,'max_output_tokens':20,"
                + "'top_logprobs':3,'background':true,'truncation':'auto','user':'u',"
                + "'safety_identifier':'s','prompt_cache_key':'k'}")
            .settings();
    assertThat(ResponseSettings.decoded(settings.encoded(), 7, "x")).isEqualTo(settings);
    assertThat(ResponseSettings.decoded(null, 7, "x"))
        .isEqualTo(ResponseSettings.unknown(7, "x", ""));
    assertThat(ResponseSettings.decoded("[", 7, "x"))
        .isEqualTo(ResponseSettings.unknown(7, "x", ""));
    assertThat(ResponseSettings.decoded("7", 7, "x"))
        .isEqualTo(ResponseSettings.unknown(7, "x", ""));
  }
}
