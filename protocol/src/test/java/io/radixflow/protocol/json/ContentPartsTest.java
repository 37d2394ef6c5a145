package io.radixflow.protocol.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContentPartsTest {

  private static JsonObject part(String json) throws JsonProcessingException {
    return JsonObject.of(new ObjectMapper().readTree(json.replace('\'', '"')), "the part");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = true,
      value = {
        "{'type':'image_url','image_url':{'url':'data:image/png;base64,AA'}} | [image: this model"
            + " reads text only]",
        "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'AA'}} | [image:"
            + " this model reads text only]",
        "{'type':'input_image','image_url':'http://x'} | [image: this model reads text only]",
        "{'type':'input_audio','input_audio':{'data':'AA','format':'wav'}} | [audio: this model"
            + " reads text only]",
        "{'type':'input_file','file_id':'f'} | [file: this model reads text only]",
        "{'type':'video_url','video_url':{}} | [video: this model reads text only]",
        "{'type':'document','source':{'type':'base64','media_type':'application/pdf','data':'AA'}}"
            + " | [document: this model reads text only]",
        "{'type':'container_upload','file_id':'f'} | [file: this model reads text only]",
        "{'type':'hologram','data':'AA'} | [hologram: this model reads text only]",
      })
  void aPartThatCannotBeReadBecomesANoteOrIsRefused(String json, String note) throws Exception {
    List<String> left = new ArrayList<>();
    assertThat(new ContentParts(false, left::add).ofMessage(part(json))).isEqualTo(note);
    assertThat(new ContentParts(true, left::add).ofResult(part(json))).isEqualTo(note);
    assertThat(left).hasSize(2).allMatch(path -> path.startsWith("type="));
    JsonObject refused = part(json);
    assertThatThrownBy(() -> new ContentParts(true, left::add).ofMessage(refused))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("this model reads text only");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'type':'text','text':'a'} | a",
        "{'type':'refusal','refusal':'no'} | no",
        "{'type':'document','title':'T','source':{'type':'text','media_type':'text/plain','data':'D'}}"
            + " | T/D",
        "{'type':'document','source':{'type':'content','content':[{'type':'text','text':'a'},{'type':'image'}]}}"
            + " | a/[image: this model reads text only]",
        "{'type':'search_result','source':'http://x','title':'T','content':[{'type':'text','text':'a'}]}"
            + " | T/a/http://x",
        "{'type':'web_search_tool_result','tool_use_id':'s','content':[{'type':'web_search_result','title':'T','url':'http://x','encrypted_content':'zz'}]}"
            + " | T/http://x",
        "{'type':'web_search_tool_result','tool_use_id':'s','content':{'type':'web_search_tool_result_error','error_code':'unavailable'}}"
            + " | unavailable",
        "{'type':'bash_code_execution_tool_result','content':{'type':'x','stdout':'out','stderr':'','return_code':0}}"
            + " | out",
        "{'type':'mcp_tool_result','content':[{'type':'text','text':'a'}]} | a",
      })
  void otherPartsKeepTheirTexts(String json, String text) throws Exception {
    ContentParts parts =
        new ContentParts(
            true,
            path -> {
              throw new AssertionError(path);
            });
    assertThat(parts.ofMessage(part(json)).replace('\n', '/')).isEqualTo(text);
  }

  @Test
  void argumentsMayBeGivenAsValues() throws Exception {
    assertThat(ContentParts.arguments(null)).isEqualTo("{}");
    assertThat(ContentParts.arguments(TextNode.valueOf("{\"a\":"))).isEqualTo("{\"a\":");
    assertThat(ContentParts.arguments(new ObjectMapper().readTree("{\"a\": 1}")))
        .isEqualTo("{\"a\":1}");
  }
}
