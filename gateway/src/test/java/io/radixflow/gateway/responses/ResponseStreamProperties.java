package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.responses.ResponseRecord.Output;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class ResponseStreamProperties {

  private static final ResponseRecord BEGUN = begun(false);

  static ResponseRecord begun(boolean background) {
    return begun(background, Set.of());
  }

  static ResponseRecord begun(boolean background, Set<String> custom) {
    ResponseSettings settings =
        new ResponseSettings(
            1_800_000_000,
            "m",
            null,
            0.5,
            7,
            0,
            false,
            background,
            true,
            false,
            null,
            "",
            null,
            null,
            null,
            null,
            custom);
    return new ResponseRecord(
        "chain_a",
        "t1",
        settings,
        "Be brief.",
        Map.of("k", "v"),
        null,
        Output.none(Status.IN_PROGRESS));
  }

  static ResponseRecord ended(ResponseRecord begun, Status status, String text) {
    return ended(begun, status, new Message("assistant", text));
  }

  static ResponseRecord ended(ResponseRecord begun, Status status, Message reply) {
    return ended(begun, status, reply, List.of());
  }

  static ResponseRecord ended(
      ResponseRecord begun, Status status, Message reply, List<PartLength> order) {
    return begun.with(new Output(status, reply, order, null, end(null)));
  }

  /** Returns the end of a turn; a response that failed has the error. */
  static TurnEnd end(ReplyError error) {
    Usage usage = new Usage(10, 4, 3);
    return new TurnEnd("any", null, null, 5000, usage, error, false, null, null);
  }

  private static final class Events extends ArrayList<ObjectNode> implements ResponseStream.Sink {
    @Override
    public void event(String type, ObjectNode data) {
      assertThat(data.get("type").textValue()).isEqualTo(type);
      add(data);
    }

    List<Long> numbers() {
      return stream().map(e -> e.get("sequence_number").longValue()).toList();
    }

    String text() {
      return stream()
          .filter(e -> e.get("type").textValue().equals("response.output_text.delta"))
          .map(e -> e.get("delta").textValue())
          .collect(Collectors.joining());
    }

    List<ObjectNode> withoutDeltas() {
      return stream()
          .filter(e -> !e.get("type").textValue().equals("response.output_text.delta"))
          .toList();
    }
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.of("a", "Ω", "好", "😀", "\n", "\"", "e\u0301")
        .list()
        .ofMaxSize(30)
        .map(parts -> String.join("", parts));
  }

  private static Events streamed(String text, List<Integer> cuts, long after, Status end) {
    Events events = new Events();
    ResponseStream stream = new ResponseStream(after, events);
    stream.open(BEGUN);
    int length = text.codePointCount(0, text.length());
    int at = 0;
    for (int cut : cuts) {
      int next = Math.min(length, at + cut);
      stream.piece(
          new TurnPiece(
              at,
              text.substring(text.offsetByCodePoints(0, at), text.offsetByCodePoints(0, next)),
              0));
      at = next;
    }
    stream.close(ended(BEGUN, end, text));
    return events;
  }

  @Property
  void anyChunkingGivesTheSameTextAndTheSameOtherEvents(
      @ForAll("texts") String text,
      @ForAll @Size(max = 12) List<@IntRange(max = 9) Integer> cuts,
      @ForAll Status end) {
    if (!end.isFinal()) {
      return;
    }
    Events whole = streamed(text, List.of(), -1, end);
    Events pieces = streamed(text, cuts, -1, end);
    assertThat(pieces.text()).isEqualTo(text);
    assertThat(pieces.withoutDeltas()).isEqualTo(whole.withoutDeltas());
    assertThat(pieces.numbers()).isSorted().doesNotHaveDuplicates();
  }

  @Property
  void aStreamThatIsResumedAfterAnyEventGoesOnExactlyThere(
      @ForAll("texts") String text,
      @ForAll @Size(max = 12) List<@IntRange(max = 9) Integer> first,
      @ForAll @Size(max = 12) List<@IntRange(max = 9) Integer> second,
      @ForAll @IntRange(max = 60) int seen) {
    Events before = streamed(text, first, -1, Status.COMPLETED);
    Events had = new Events();
    had.addAll(before.subList(0, Math.min(before.size(), seen + 1)));
    long last = had.numbers().get(had.size() - 1);
    Events after = streamed(text, second, last, Status.COMPLETED);

    assertThat(had.text() + after.text()).isEqualTo(text);
    Events joined = new Events();
    joined.addAll(had);
    joined.addAll(after);
    assertThat(joined.numbers()).isSorted().doesNotHaveDuplicates();
    assertThat(joined.withoutDeltas()).isEqualTo(before.withoutDeltas());
  }

  @Property
  void aPointThatNoStreamEverSentIsHarmless(
      @ForAll("texts") String text, @ForAll @IntRange(min = -1, max = 1000) int after) {
    Events events = streamed(text, List.of(1, 2), after, Status.COMPLETED);
    assertThat(events.numbers()).isSorted().doesNotHaveDuplicates().allMatch(n -> n > after);
  }
}
