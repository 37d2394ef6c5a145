package io.radixflow.gateway.responses;

import static io.radixflow.gateway.responses.ResponseStreamProperties.begun;
import static io.radixflow.gateway.responses.ResponseStreamProperties.ended;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.responses.ResponseRecord.Failure;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.operators.record.Reply.TokenLogprob;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResponseStreamTest {

  private final List<ObjectNode> events = new ArrayList<>();
  private final ResponseStream stream = new ResponseStream(-1, (type, data) -> events.add(data));

  private List<String> types() {
    return events.stream().map(e -> e.get("type").textValue()).toList();
  }

  private ObjectNode last() {
    return events.get(events.size() - 1);
  }

  @Test
  void aReplyHasTheEventsOfOpenAiInTheirOrder() {
    stream.open(begun(false));
    stream.text("Hi", null);
    stream.text(" there", null);
    stream.close(ended(begun(false), Status.COMPLETED, "Hi there"));
    assertThat(types())
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed");
    assertThat(events.stream().map(e -> e.get("sequence_number").intValue()))
        .containsExactly(0, 1, 2, 3, 5, 11, 12, 13, 14, 15);
    assertThat(last().at("/response/output/0/content/0/text").textValue()).isEqualTo("Hi there");
    assertThat(last().at("/response/usage/input_tokens_details/cached_tokens").intValue())
        .isEqualTo(4);
  }

  @Test
  void aReplyThatWasCutByItsLimitIsIncomplete() {
    stream.open(begun(false));
    stream.close(ended(begun(false), Status.INCOMPLETE, "Hi"));
    assertThat(last().get("type").textValue()).isEqualTo("response.incomplete");
    assertThat(last().at("/response/incomplete_details/reason").textValue())
        .isEqualTo("max_output_tokens");
  }

  @Test
  void aCancelledReplyIsIncompleteWithItsOwnStatus() {
    stream.open(begun(true));
    stream.close(ended(begun(true), Status.CANCELLED, "Hi"));
    assertThat(events.get(0).at("/response/status").textValue()).isEqualTo("queued");
    assertThat(last().get("type").textValue()).isEqualTo("response.incomplete");
    assertThat(last().at("/response/status").textValue()).isEqualTo("cancelled");
  }

  @Test
  void aReplyThatFailedSaysWhy() {
    stream.open(begun(false));
    stream.text("Hi", null);
    stream.close(
        begun(false)
            .ended(Status.FAILED, 5, "Hi", null, null, new Failure("server_error", "it broke")));
    assertThat(last().get("type").textValue()).isEqualTo("response.failed");
    assertThat(last().get("sequence_number").intValue()).isEqualTo(6);
    assertThat(last().at("/response/error/message").textValue()).isEqualTo("it broke");
  }

  @Test
  void aStreamThatBreaksCanBeResumedAfterItsErrorEvent() {
    stream.open(begun(false));
    stream.text("Hi", null);
    stream.error("server_error", "the brokers do not answer");
    long seen = last().get("sequence_number").longValue();
    List<ObjectNode> more = new ArrayList<>();
    ResponseStream again = new ResponseStream(seen, (type, data) -> more.add(data));
    again.open(begun(false));
    again.text("Hi there", null);
    assertThat(more).hasSize(1);
    assertThat(more.get(0).get("delta").textValue()).isEqualTo(" there");
  }

  @Test
  void aReplyThatSaysSomethingElseThanItsPiecesIsNotPassedOffAsThem() {
    stream.open(begun(false));
    stream.text("Hi", null);
    stream.close(ended(begun(false), Status.COMPLETED, "Ho"));
    assertThat(last().get("type").textValue()).isEqualTo("error");
  }

  @Test
  void logProbabilitiesComeWithTheirPieceAndAllAtTheEnd() {
    stream.open(begun(false));
    stream.text("Hi", List.of(new TokenLogprob(1, "Hi", -0.5f, List.of())));
    stream.text(" you", List.of(new TokenLogprob(2, " you", -1.5f, List.of())));
    stream.close(ended(begun(false), Status.COMPLETED, "Hi you"));
    assertThat(events.get(5).at("/logprobs/0/token").textValue()).isEqualTo(" you");
    assertThat(events.get(6).at("/logprobs")).hasSize(2);
    assertThat(last().at("/response/output/0/content/0/logprobs/1/bytes")).hasSize(4);
  }
}
