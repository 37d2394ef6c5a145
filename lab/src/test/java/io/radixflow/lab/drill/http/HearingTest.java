package io.radixflow.lab.drill.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.radixflow.text.template.ToolCall;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Streams that are broken on purpose: exactly their faults must be found. */
class HearingTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Hearing hearing = hearing(false);

  private static Hearing hearing(boolean chat) {
    return new Hearing(new HttpTurn(chat, "k", JsonNodeFactory.instance.objectNode(), -1, -1));
  }

  private void whole(int number, String type, String status, String text) {
    event(
        """
        {"type": "%s", "sequence_number": %d, "response":
        {"id": "r", "status": "%s", "output": [{"content": [{"text": "%s"}]}]}}\
        """
            .formatted(type, number, status, text));
  }

  private void open() {
    whole(0, "response.created", "queued", "");
    whole(1, "response.in_progress", "in_progress", "");
    other(2, "response.output_item.added");
    other(3, "response.content_part.added");
  }

  private void other(int number, String type) {
    event("{\"type\": \"%s\", \"sequence_number\": %d}".formatted(type, number));
  }

  private void piece(int number, String text) {
    event(
        "{\"type\": \"response.output_text.delta\", \"sequence_number\": %d, \"delta\": \"%s\"}"
            .formatted(number, text));
  }

  private void close(int number, String status, String text) {
    other(number, "response.output_text.done");
    other(number + 1, "response.content_part.done");
    other(number + 2, "response.output_item.done");
    whole(number + 3, "response.completed", status, text);
    hearing.done();
  }

  private void chunk(String text) {
    event("{\"id\": \"c\", \"choices\": [{\"delta\": {\"content\": \"%s\"}}]}".formatted(text));
  }

  private void event(String json) {
    try {
      assertThat(hearing.event(MAPPER.readTree(json))).isTrue();
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aResponseThatIsResumedWithoutAGapIsRight() {
    open();
    piece(5, "ab");
    hearing.broke();
    assertThat(hearing.resumable()).isTrue();
    assertThat(hearing.number()).isEqualTo(5);
    piece(7, "𝄞c");
    close(8, "completed", "ab𝄞c");

    Heard heard = hearing.heard();
    assertThat(heard.faults()).isEmpty();
    assertThat(heard.text()).isEqualTo("ab𝄞c");
    assertThat(heard.finish()).isEqualTo("stop");
    assertThat(heard.waits()).hasSize(1);
    assertThat(hearing.ended()).isTrue();
  }

  @Test
  void aPieceThatComesTwiceOrIsMissingIsAFault() {
    open();
    piece(5, "ab");
    piece(5, "ab");
    assertThat(hearing.heard().faults()).hasSize(1);

    hearing = hearing(false);
    open();
    piece(6, "bc");
    assertThat(hearing.heard().faults()).hasSize(1);
  }

  @Test
  void aWholeTextThatIsNotThatOfThePiecesIsAFault() {
    open();
    piece(5, "ab");
    close(6, "completed", "ac");
    assertThat(hearing.heard().faults()).hasSize(1);
  }

  @Test
  void aCancelledReplyMayEndBeforeWhatCame() {
    open();
    piece(5, "ab");
    close(6, "cancelled", "a");
    assertThat(hearing.heard().faults()).isEmpty();
    assertThat(hearing.heard().cancelled()).isTrue();
  }

  @Test
  void aChatThatComesAgainMustHaveTheSameText() {
    hearing = hearing(true);
    chunk("ab");
    hearing.broke();
    chunk("a");
    chunk("bc");
    hearing.done();
    assertThat(hearing.heard().faults()).isEmpty();
    assertThat(hearing.heard().text()).isEqualTo("abc");

    hearing = hearing(true);
    chunk("ab");
    hearing.broke();
    chunk("ac");
    assertThat(hearing.heard().faults()).hasSize(1);

    hearing = hearing(true);
    chunk("ab");
    hearing.broke();
    chunk("a");
    hearing.done();
    assertThat(hearing.heard().faults()).hasSize(1);
  }

  @Test
  void callsOfAResponseAreHeardWithTheirNumbers() {
    open();
    other(4, "response.output_item.done");
    event(
        """
        {"type": "response.output_item.added", "sequence_number": 5,
        "item": {"type": "function_call", "call_id": "c", "name": "f"}}\
        """);
    event(
        """
        {"type": "response.function_call_arguments.delta", "sequence_number": 7,
        "delta": "{}"}\
        """);
    event(
        """
        {"type": "response.completed", "sequence_number": 8, "response": {"status": "completed",
        "output": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}]}}\
        """);
    hearing.done();

    Heard heard = hearing.heard();
    assertThat(heard.faults()).isEmpty();
    assertThat(heard.calls()).containsExactly(new ToolCall("c", "f", "{}"));
    assertThat(heard.finish()).isEqualTo("tool_calls");
  }

  @Test
  void callsOfAChatThatComesAgainMustBeTheSame() {
    String chunk =
        """
        {"id": "c", "choices": [{"delta": {"tool_calls": [{"index": 0, "id": "%s",
        "function": {"name": "f", "arguments": "{"}}]}}]}\
        """;
    hearing = hearing(true);
    event(chunk.formatted("c1"));
    hearing.broke();
    event(chunk.formatted("c1"));
    assertThat(hearing.heard().faults()).isEmpty();
    assertThat(hearing.heard().calls()).containsExactly(new ToolCall("c1", "f", "{"));
    hearing.broke();
    event(chunk.formatted("c2"));
    assertThat(hearing.heard().faults()).hasSize(1);
  }

  @Test
  void aGatewayWithoutBrokersIsTriedAgainAndARefusalIsAFault() throws IOException {
    assertThatThrownBy(() -> hearing.refused(503, "")).isInstanceOf(IOException.class);
    assertThat(hearing.ended()).isFalse();
    hearing.refused(404, "none");
    assertThat(hearing.ended()).isTrue();
    assertThat(hearing.heard().faults()).singleElement().asString().contains("404");
  }

  @Test
  void anErrorEventBreaksTheStream() throws IOException {
    assertThat(hearing.event(MAPPER.readTree("{\"type\": \"error\"}"))).isFalse();
    assertThat(hearing(true).event(MAPPER.readTree("{\"error\": {}}"))).isFalse();
  }
}
