package io.radixflow.gateway.responses;

import static io.radixflow.gateway.responses.ResponseStreamProperties.begun;
import static io.radixflow.gateway.responses.ResponseStreamProperties.end;
import static io.radixflow.gateway.responses.ResponseStreamProperties.ended;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.responses.ResponseRecord.Output;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ResponseStreamTest {

  private final List<ObjectNode> events = new ArrayList<>();
  private final ResponseStream stream = new ResponseStream(-1, (type, data) -> events.add(data));

  private static TurnPiece piece(String text) {
    return new TurnPiece(0, text, 0);
  }

  private static TurnPiece piece(TurnPart part, String text) {
    return new TurnPiece(0, part, text, 0, List.of());
  }

  private static final ToolCall ULM = new ToolCall("call_1", "weather", "{\"city\": \"Ulm\"}");
  private static final ToolCall ROME = new ToolCall("call_2", "weather", "{}");
  private static final Message REPLY =
      new Message("assistant", "So", null, List.of(ULM, ROME), null, "Hm");

  /** The reply's pieces, of no more characters than given. */
  private static List<TurnPiece> pieces(int size) {
    List<TurnPiece> whole =
        List.of(
            piece(TurnPart.REASONING, "Hm"),
            piece(TurnPart.CONTENT, "So"),
            piece(TurnPart.call(0, "call_1"), ULM.name()),
            piece(TurnPart.arguments(0, "call_1"), ULM.arguments()),
            piece(TurnPart.call(1, "call_2"), ROME.name()),
            piece(TurnPart.arguments(1, "call_2"), ROME.arguments()));
    List<TurnPiece> pieces = new ArrayList<>();
    for (TurnPiece each : whole) {
      int step = each.part().opensCall() ? each.text().length() : size;
      for (int at = 0; at < each.text().length(); at += step) {
        int end = Math.min(each.text().length(), at + step);
        pieces.add(piece(each.part(), each.text().substring(at, end)));
      }
    }
    return pieces;
  }

  private static List<ObjectNode> streamed(int size, long after) {
    return streamed(size, after, Set.of());
  }

  private static List<ObjectNode> streamed(int size, long after, Set<String> custom) {
    List<ObjectNode> events = new ArrayList<>();
    ResponseStream stream = new ResponseStream(after, (type, data) -> events.add(data));
    stream.open(begun(false, custom));
    pieces(size).forEach(stream::piece);
    stream.close(ended(begun(false, custom), Status.COMPLETED, REPLY));
    return events;
  }

  @Test
  void reasoningTextAndCallsAreItemsOneAfterTheOther() {
    events.addAll(streamed(100, -1));
    assertThat(types())
        .containsExactly(
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.reasoning_text.delta",
            "response.reasoning_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed");
    List<ObjectNode> done =
        events.stream().filter(e -> e.get("type").textValue().endsWith("item.done")).toList();
    for (int i = 0; i < done.size(); i++) {
      assertThat(done.get(i).get("output_index").intValue()).isEqualTo(i);
      assertThat(last().at("/response/output/" + i)).isEqualTo(done.get(i).get("item"));
    }
    assertThat(last().at("/response/output")).hasSize(4);
    assertThat(done.get(2).at("/item/arguments").textValue()).isEqualTo(ULM.arguments());
  }

  @Test
  void aStreamWithCallsThatIsResumedAnywhereGoesOnExactlyThere() {
    goesOnAfterAnyEvent(Set.of());
  }

  @Test
  void aStreamWithCallsOfCustomToolsThatIsResumedAnywhereGoesOnExactlyThere() {
    goesOnAfterAnyEvent(Set.of(ULM.name()));
    assertThat(deltas(streamed(1, -1, Set.of(ULM.name())))).contains(ULM.arguments());
  }

  private static void goesOnAfterAnyEvent(Set<String> custom) {
    List<ObjectNode> byCharacter = streamed(1, -1, custom);
    assertThat(byCharacter.stream().map(e -> e.get("sequence_number").longValue()))
        .isSorted()
        .doesNotHaveDuplicates();
    for (int seen = 0; seen + 1 < byCharacter.size(); seen++) {
      long after = byCharacter.get(seen).get("sequence_number").longValue();
      List<ObjectNode> rest = streamed(1, after, custom);
      assertThat(rest).isEqualTo(byCharacter.subList(seen + 1, byCharacter.size()));
      List<ObjectNode> whole = streamed(100, after, custom);
      assertThat(whole.get(whole.size() - 1)).isEqualTo(rest.get(rest.size() - 1));
      assertThat(deltas(whole)).isEqualTo(deltas(rest));
    }
  }

  private static String deltas(List<ObjectNode> events) {
    return events.stream()
        .map(e -> e.has("delta") ? e.get("delta").textValue() : "")
        .collect(Collectors.joining());
  }

  @Test
  void aReplyThatIsKnownToItsEndIsStreamedFromWhatIsKnown() {
    stream.open(begun(false));
    stream.close(ended(begun(false), Status.COMPLETED, REPLY));
    assertThat(events).isEqualTo(streamed(100, -1));
  }

  private List<String> types() {
    return events.stream().map(e -> e.get("type").textValue()).toList();
  }

  private ObjectNode last() {
    return events.get(events.size() - 1);
  }

  @Test
  void aReplyHasTheEventsOfOpenAiInTheirOrder() {
    stream.open(begun(false));
    stream.piece(piece("Hi"));
    stream.piece(piece(" there"));
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
    stream.piece(piece("Hi"));
    stream.close(
        begun(false)
            .with(
                new Output(
                    Status.FAILED,
                    new Message("assistant", "Hi"),
                    List.of(),
                    null,
                    end(ReplyError.failed("it broke")))));
    assertThat(last().get("type").textValue()).isEqualTo("response.failed");
    assertThat(last().get("sequence_number").intValue()).isEqualTo(6);
    assertThat(last().at("/response/error/message").textValue()).isEqualTo("it broke");
  }

  @Test
  void textAfterACallIsAnItemOfItsOwnWhereverTheStreamIsResumed() {
    List<TurnPiece> parts =
        List.of(
            piece(TurnPart.CONTENT, "Wait"),
            piece(TurnPart.call(0, "call_1"), ULM.name()),
            piece(TurnPart.arguments(0, "call_1"), ULM.arguments()),
            piece(TurnPart.CONTENT, "Done"));
    TurnMessage whole = new TurnMessage();
    parts.forEach(whole::add);
    ResponseRecord end = ended(begun(false), Status.COMPLETED, whole.message(), whole.order());
    stream.open(begun(false));
    parts.forEach(stream::piece);
    stream.close(end);
    List<ObjectNode> items =
        events.stream().filter(e -> e.get("type").textValue().endsWith("item.done")).toList();
    assertThat(items).hasSize(3);
    for (int i = 0; i < items.size(); i++) {
      assertThat(last().at("/response/output/" + i)).isEqualTo(items.get(i).get("item"));
    }
    assertThat(items.stream().map(item -> item.at("/item/id").textValue()))
        .doesNotHaveDuplicates()
        .allMatch(id -> ResponseIds.parseItem(id).orElseThrow().position() == ResponseIds.REPLY);
    for (ObjectNode seen : events) {
      List<ObjectNode> rest = new ArrayList<>();
      long after = seen.get("sequence_number").longValue();
      ResponseStream resumed = new ResponseStream(after, (type, data) -> rest.add(data));
      resumed.open(begun(false));
      resumed.close(end);
      assertThat(rest).isEqualTo(events.subList(events.indexOf(seen) + 1, events.size()));
    }
  }

  @Test
  void aStreamThatBreaksCanBeResumedAfterItsErrorEvent() {
    stream.open(begun(false));
    stream.piece(piece("Hi"));
    stream.error("server_error", "the brokers do not answer");
    long seen = last().get("sequence_number").longValue();
    List<ObjectNode> more = new ArrayList<>();
    ResponseStream again = new ResponseStream(seen, (type, data) -> more.add(data));
    again.open(begun(false));
    again.piece(piece("Hi there"));
    assertThat(more).hasSize(1);
    assertThat(more.get(0).get("delta").textValue()).isEqualTo(" there");
  }

  @Test
  void aReplyThatSaysSomethingElseThanItsPiecesIsNotPassedOffAsThem() {
    stream.open(begun(false));
    stream.piece(piece("Hi"));
    stream.close(ended(begun(false), Status.COMPLETED, "Ho"));
    assertThat(last().get("type").textValue()).isEqualTo("error");
  }

  @Test
  void logProbabilitiesComeWithTheirPieceAndAllAtTheEnd() {
    TurnMessage whole = new TurnMessage();
    stream.open(begun(false));
    for (TokenLogprob token :
        List.of(
            new TokenLogprob(1, "Hi", -0.5f, List.of()),
            new TokenLogprob(2, " you", -1.5f, List.of()))) {
      TurnPiece piece = new TurnPiece(0, TurnPart.CONTENT, token.token(), 1, List.of(token));
      stream.piece(piece);
      whole.add(piece);
    }
    Output output =
        new Output(Status.COMPLETED, whole.message(), List.of(), whole.logprobs(), end(null));
    stream.close(begun(false).with(output));
    assertThat(events.get(5).at("/logprobs/0/token").textValue()).isEqualTo(" you");
    assertThat(events.get(6).at("/logprobs")).hasSize(2);
    assertThat(last().at("/response/output/0/content/0/logprobs/1/bytes")).hasSize(4);
  }
}
