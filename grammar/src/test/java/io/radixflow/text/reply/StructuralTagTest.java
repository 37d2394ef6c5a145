package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.text.template.JsonValues;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StructuralTagTest {
  private static final String TAG =
      "{'begin':'<f=a>','content':{'type':'json_schema','json_schema':{'type':'object',"
          + "'properties':{'x':{'type':'integer'}},'required':['x'],"
          + "'additionalProperties':false}},'end':'</f>'}";

  private static boolean accepts(String tag, String reply) {
    String json = tag.replace("TAG", TAG).replace('\'', '"');
    GrammarMatcher matcher = Grammar.lark(StructuralTag.grammar(JsonValues.object(json))).matcher();
    byte[] bytes = reply.getBytes(StandardCharsets.UTF_8);
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'type':'structural_tag','structures':[{'begin':'<f=a>','schema':{'type':'integer'},'end':'</f>'}],'triggers':['<f=']}"
            + " | hi <f=a>1</f> and | <f=a>x</f>",
        "{'structures':[{'begin':'<f=a>','schema':{'type':'integer'},'end':'</f>'}],'triggers':['<f=']}"
            + " | just < text | <f=b>1</f>",
        "{'format':{'type':'triggered_tags','triggers':['<f='],'tags':[TAG]}} |"
            + " a<f=a>{\"x\":1}</f><f=a>{\"x\":2}</f>b | a<f=a>{}</f>",
        "{'format':{'type':'triggered_tags','triggers':['<f='],'tags':[TAG],'at_least_one':true}} |"
            + " <f=a>{\"x\":1}</f> | a",
        "{'format':{'type':'triggered_tags','triggers':['<f='],'tags':[TAG],'stop_after_first':true}}"
            + " | a<f=a>{\"x\":1}</f> | <f=a>{\"x\":1}</f>a",
        "{'format':{'type':'triggered_tags','triggers':['<f='],'tags':[TAG],'excludes':['no']}} |"
            + " yes | no",
        "{'format':{'type':'tags_with_separator','separator':'; ','tags':[TAG]}} |"
            + " <f=a>{\"x\":1}</f>; <f=a>{\"x\":2}</f> | <f=a>{\"x\":1}</f> <f=a>{\"x\":2}</f>",
        "{'format':{'type':'sequence','elements':[{'type':'const_string','value':'a/'},{'type':'regex','pattern':'[0-9]+/b'}]}}"
            + " | a/12/b | a/b",
        "{'format':{'type':'or','elements':[{'type':'const_string','value':'yes'},TAG2]}} | yes |"
            + " no",
        "{'format':{'type':'tag','begin':'<think>','content':{'type':'any_text'},'end':'</think>'}}"
            + " | <think>a < b</think> | <think>a</think></think>",
        "{'format':{'type':'tag','begin':'(','content':{'type':'any_text','excludes':['x']},'end':[')',']']}}"
            + " | (a] | (x)",
        "{'format':{'type':'json_schema','json_schema':{'type':'null'}}} | null | 1"
      })
  void aReplyFollowsItsTag(String tag, String member, String other) {
    String whole = tag.replace("TAG2", "{'type':'regex','pattern':'n\\\\/a'}");

    assertThat(accepts(whole, member)).isTrue();
    assertThat(accepts(whole, other)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | structures",
        "{'format':{'type':'grammar','grammar':'root ::= x'}} | format grammar",
        "{'format':{'type':'triggered_tags','triggers':['<g'],'tags':[TAG]}} | any of its"
            + " triggers",
        "{'format':{'type':'tag','begin':1,'content':{'type':'any_text'}}} | string as begin",
        "{'format':5} | object as format"
      })
  void whatIsNotServedIsNamed(String tag, String reason) {
    assertThatThrownBy(() -> accepts(tag, "")).hasMessageContaining(reason);
  }
}
