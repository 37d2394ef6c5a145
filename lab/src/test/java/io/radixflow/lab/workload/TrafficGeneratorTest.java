package io.radixflow.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class TrafficGeneratorTest {
  private static final TrafficModel MODEL = model(0.4, 7);

  private static TrafficModel model(double onlyOneTurn, long seed) {
    return CommandLine.populateCommand(
        new TrafficModel(),
        "--sessions=60",
        "--turns=4",
        "--only-one-turn=" + onlyOneTurn,
        "--closed=0.5",
        "--system-prompts=3",
        "--system-words=60",
        "--message-words=20",
        "--think=30",
        "--reply-words=40",
        "--seed=" + seed);
  }

  private static List<String> records(TrafficModel model) throws IOException {
    List<String> records = new ArrayList<>();
    long[] last = new long[1];
    new TrafficGenerator(model)
        .run(
            (millis, json) -> {
              assertThat(millis).isGreaterThanOrEqualTo(last[0]);
              last[0] = millis;
              records.add(new String(json, StandardCharsets.UTF_8));
            });
    return records;
  }

  private static List<ConversationEvent> events(List<String> records) {
    EventParser parser = new EventParser(1 << 20);
    return records.stream()
        .filter(record -> !record.contains("\"choices\""))
        .map(
            record ->
                parser.parse(record.getBytes(StandardCharsets.UTF_8), new Origin(-1, 0, 0)).event())
        .toList();
  }

  @Test
  void theSameModelMakesTheSameRecords() throws IOException {
    assertThat(records(MODEL)).isEqualTo(records(MODEL));
  }

  @Test
  void anotherSeedMakesOthers() throws IOException {
    TrafficModel other = model(0.4, 8);

    assertThat(records(other)).isNotEqualTo(records(MODEL));
  }

  @Test
  void everySessionOpensTakesTurnsAndSomeAreClosed() throws IOException {
    List<ConversationEvent> events = events(records(MODEL));

    Map<EventKind, Long> kinds =
        events.stream()
            .collect(Collectors.groupingBy(ConversationEvent::kind, Collectors.counting()));
    assertThat(kinds.get(EventKind.OPEN)).isEqualTo(60);
    assertThat(kinds.get(EventKind.CLOSE)).isBetween(15L, 45L);
    assertThat(kinds.get(EventKind.MESSAGE)).isGreaterThan(100);
    assertThat(
            events.stream()
                .filter(event -> event.kind() == EventKind.OPEN)
                .map(event -> event.messages().get(0).content())
                .distinct())
        .hasSize(3);
  }

  @Test
  void theRecordsAreAWorkloadInWhichEveryTurnHasItsReply() throws IOException {
    List<String> records = records(MODEL);

    Workload workload = TestWorkloads.text(WorkloadOptions.DEFAULT, String.join("\n", records));

    long messages =
        events(records).stream().filter(event -> event.kind() == EventKind.MESSAGE).count();
    assertThat(workload.requests().requests()).isEqualTo((int) messages);
    assertThat(workload.notes()).hasSize(2);
  }

  @Test
  void aModelOutOfRangeIsRefusedByName() {
    assertThatThrownBy(() -> new TrafficGenerator(model(1.4, 7)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("onlyOneTurn is 1.4; it must be 0.0 to 1.0");
  }
}
