package io.radixflow.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Histories with what only other servers and models know: a session must survive them. */
class ForeignContentTest {
  private static final String NOTE = "[image: this model reads text only]";
  private static final String CHAT = "/v1/chat/completions";

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private String ignored;

  /** Returns the messages of the event that a request becomes. */
  private List<Message> messages(String path, String body) {
    return event(path, body).messages();
  }

  private ConversationEvent event(String path, String body) {
    CompletableFuture<HttpResponse<String>> sent =
        gateway.send(gateway.post(path, body.replace('\'', '"')));
    ConversationEvent event = gateway.topics().next();
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    ignored = sent.join().headers().firstValue("X-Radixflow-Ignored").orElse("");
    return event;
  }

  private static Message result(String id, String text) {
    return new Message("tool", text, null, List.of(), id, null);
  }

  private static Message call(ToolCall... calls) {
    return new Message("assistant", null, null, List.of(calls), null, null);
  }

  @Test
  void aPictureIsANoteInAChat() {
    assertThat(
            messages(
                CHAT,
                """
                {'messages':[
                 {'role':'user','content':[{'type':'text','text':'See '},
                  {'type':'image_url','image_url':{'url':'data:image/png;base64,AA'}}]},
                 {'role':'assistant','content':'','tool_calls':[
                  {'id':'c','type':'function','function':{'name':'f','arguments':{'a':1}}}]},
                 {'role':'tool','tool_call_id':'c','content':[
                  {'type':'image_url','image_url':{'url':'x'}}]}]}
                """))
        .containsExactly(
            new Message("user", "See " + NOTE),
            call(new ToolCall("c", "f", "{\"a\":1}")),
            result("c", NOTE));
    assertThat(ignored)
        .isEqualTo(
            "messages[0].content[1].type=\"image_url\",messages[2].content[0].type=\"image_url\"");
  }

  @Test
  void aPictureIsANoteInAMessage() {
    assertThat(
            messages(
                "/v1/messages",
                """
                {'max_tokens':9,'messages':[
                 {'role':'user','content':[{'type':'text','text':'See'},
                  {'type':'image','source':{'type':'base64','media_type':'image/png','data':'AA'}}]},
                 {'role':'assistant','content':[{'type':'tool_use','id':'c','name':'Read','input':{}}]},
                 {'role':'user','content':[{'type':'tool_result','tool_use_id':'c','content':[
                  {'type':'image','source':{'type':'base64','media_type':'image/png','data':'AA'}}]}]}]}
                """))
        .containsExactly(
            new Message("user", "See\n\n" + NOTE),
            call(new ToolCall("c", "Read", "{}")),
            result("c", NOTE));
  }

  @Test
  void aPictureIsANoteInAResponse() {
    assertThat(
            messages(
                "/v1/responses",
                """
                {'input':[
                 {'role':'user','content':[{'type':'input_text','text':'See '},
                  {'type':'input_image','image_url':'data:image/png;base64,AA'}]},
                 {'type':'function_call','call_id':'c','name':'view_image','arguments':'{}'},
                 {'type':'function_call_output','call_id':'c','output':[
                  {'type':'input_image','image_url':'data:image/png;base64,AA'}]}]}
                """))
        .containsExactly(
            new Message("user", "See " + NOTE),
            call(new ToolCall("c", "view_image", "{}")),
            result("c", NOTE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/chat/completions | {'messages':[{'role':'user','content':[PICTURE]}]}",
        "/v1/messages | {'max_tokens':9,'messages':[{'role':'user','content':[PICTURE]}]}",
        "/v1/responses | {'input':[{'role':'user','content':[PICTURE]}]}",
      })
  void aPictureInAMessageIsRefusedIfTheOperatorWantsIt(String path, String body) throws Exception {
    gateway.restart("gateway.unreadable-parts=refuse");
    String picture = body.replace("PICTURE", "{'type':'image'}").replace('\'', '"');
    HttpResponse<String> response = gateway.send(gateway.post(path, picture)).join();
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body())
        .contains("content[0].type is \\\"image\\\": this model reads text only");
    String result =
        """
        {'messages':[{'role':'user','content':'a'},{'role':'tool','tool_call_id':'c',
         'content':[{'type':'image'}]}]}
        """;
    assertThat(messages(CHAT, result).get(1)).isEqualTo(result("c", NOTE));
  }

  @Test
  void unknownFieldsWithinToolsAndFormatsAreIgnored() {
    ConversationEvent event =
        event(
            CHAT,
            """
            {'messages':[{'role':'user','content':'a'}],
             'tools':[{'type':'function','cache_control':{'type':'ephemeral'},'function':
              {'name':'f','parameters':{'type':'object','x-own':1},'returns':'x','examples':null}}],
             'tool_choice':{'type':'function','why':1,'function':{'name':'f','x':2}},
             'response_format':{'type':'json_schema','y':1,
              'json_schema':{'name':'n','schema':{'type':'object'},'z':1}}}
            """);
    assertThat(event.options().tools())
        .isEqualTo(
            "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":"
                + "{\"type\":\"object\",\"x-own\":1}}}]");
    assertThat(ignored.split(","))
        .containsExactlyInAnyOrder(
            "tools[0].cache_control",
            "tools[0].function.returns",
            "tool_choice.why",
            "tool_choice.function.x",
            "response_format.y",
            "response_format.json_schema.z");
  }

  @Test
  void rolesThatFewKnowAreGivenToTheTemplate() {
    assertThat(
            messages(
                CHAT,
                """
                {'messages':[{'role':'critic','content':'a'},{'role':'user','content':'b'},
                 {'role':'assistant','content':null,'function_call':{'name':'f','arguments':'{}'}},
                 {'role':'function','name':'f','content':'1'}]}
                """))
        .containsExactly(
            new Message("critic", "a"),
            new Message("user", "b"),
            call(new ToolCall("call_3", "f", "{}")),
            new Message("tool", "1", "f", List.of(), "call_3", null));
    assertThat(ignored).isEqualTo("messages[0].role=\"critic\"");
    assertThat(
            messages(
                "/v1/messages", "{'max_tokens':9,'messages':[{'role':'critic','content':'a'}]}"))
        .containsExactly(new Message("critic", "a"));
    assertThat(messages("/v1/responses", "{'input':[{'role':'critic','content':'a'}]}"))
        .containsExactly(new Message("critic", "a"));
  }

  @Test
  void whatAnthropicsServersDidStaysAsText() {
    assertThat(
            messages(
                "/v1/messages",
                """
                {'max_tokens':9,'messages':[{'role':'user','content':[
                  {'type':'document','title':'T','source':{'type':'text','media_type':'text/plain','data':'D'}},
                  {'type':'search_result','source':'http://s','title':'S','content':[{'type':'text','text':'a'}]}]},
                 {'role':'assistant','content':[
                  {'type':'redacted_thinking','data':'x'},
                  {'type':'server_tool_use','id':'s','name':'web_search','input':{'query':'q'}},
                  {'type':'web_search_tool_result','tool_use_id':'s','content':[
                   {'type':'web_search_result','title':'W','url':'http://w','encrypted_content':'zz'}]},
                  {'type':'text','text':'So.'}]},
                 {'role':'user','content':'b'}]}
                """))
        .containsExactly(
            new Message("user", "T\nD\n\nS\na\nhttp://s"),
            new Message("assistant", "\n[web_search {\"query\":\"q\"}]\n\nW\nhttp://w\nSo."),
            new Message("user", "b"));
  }

  @Test
  void itemsOfOtherToolsAreCallsOrLeftOut() {
    assertThat(
            messages(
                "/v1/responses",
                """
                {'input':[{'role':'user','content':'a'},
                 {'type':'web_search_call','id':'w','status':'completed','action':{'type':'search','query':'q'}},
                 {'type':'mcp_list_tools','id':'l','server_label':'m','tools':[]},
                 {'type':'image_generation_call','id':'i','result':'AA'},
                 {'type':'item_reference','id':'x'},
                 {'type':'compaction','encrypted_content':'x'},
                 {'type':'local_shell_call','id':'1','call_id':'c1','action':{'type':'exec','command':['ls']}},
                 {'type':'local_shell_call_output','id':'1','call_id':'c1','output':'x'},
                 {'type':'shell_call','call_id':'c2','action':{'commands':['ls']}},
                 {'type':'shell_call_output','call_id':'c2','output':[
                  {'stdout':'y','stderr':'','outcome':{'type':'exit','exit_code':0}}]},
                 {'type':'mcp_call','id':'m1','name':'find','arguments':'{}','output':'z'},
                 {'type':'computer_call_output','call_id':'c3','output':{'type':'computer_screenshot'}},
                 {'type':'function_call','call_id':'c4','name':'g'},
                 {'type':'function_call_output','call_id':'c4','output':null}]}
                """))
        .containsExactly(
            new Message("user", "a"),
            call(new ToolCall("c1", "local_shell", "{\"type\":\"exec\",\"command\":[\"ls\"]}")),
            result("c1", "x"),
            call(new ToolCall("c2", "shell", "{\"commands\":[\"ls\"]}")),
            result("c2", "y"),
            call(new ToolCall("m1", "find", "{}")),
            result("m1", "z"),
            result("c3", NOTE),
            call(new ToolCall("c4", "g", "{}")),
            result("c4", ""));
    assertThat(ignored)
        .contains("input[1].type=\"web_search_call\"")
        .contains("input[2].type=\"mcp_list_tools\"")
        .contains("input[5].type=\"compaction\"");
  }
}
