package io.radixflow.protocol.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks the examples of the documentation: blocks that begin with {@code ```json KIND}. A block of
 * the kind {@code KIND-part} has some fields of a record; the others are as in the page's first
 * example of the kind.
 */
class DocumentedRecordsTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern BLOCK =
      Pattern.compile("^```json([^\n]*)\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Map<String, JsonSchema> SCHEMAS =
      Map.of(
          "event", Schemas.EVENT,
          "delta", Schemas.DELTA,
          "reply", Schemas.REPLY,
          "control", Schemas.CONTROL,
          "dead-letter", Schemas.DEAD_LETTER,
          "kv-event", Schemas.KV_EVENT);

  private record Example(Path page, String kind, String json) {}

  private static List<Example> examples() throws IOException {
    List<Example> found = new ArrayList<>();
    for (Path page : pages()) {
      Matcher block = BLOCK.matcher(Files.readString(page));
      while (block.find()) {
        found.add(whole(new Example(page, block.group(1).strip(), block.group(2)), found));
      }
    }
    return found;
  }

  private static Example whole(Example example, List<Example> before) {
    String kind = example.kind().replaceFirst("-part$", "");
    if (kind.equals(example.kind())) {
      return example;
    }
    Example first =
        before.stream()
            .filter(each -> each.page().equals(example.page()) && each.kind().equals(kind))
            .findFirst()
            .orElseThrow();
    ObjectNode record = (ObjectNode) Schemas.tree(first.json().getBytes(UTF_8));
    record.setAll((ObjectNode) Schemas.tree(example.json().getBytes(UTF_8)));
    return new Example(example.page(), kind, record.toString());
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      return Stream.concat(
              Stream.of(ROOT.resolve("README.md")),
              docs.filter(page -> page.toString().endsWith(".md")).sorted())
          .toList();
    }
  }

  private static String page(String name) throws IOException {
    return Files.readString(ROOT.resolve("docs").resolve(name));
  }

  @Test
  void everyExampleFitsItsSchema() throws IOException {
    assertThat(examples()).hasSizeGreaterThan(20);
    for (Example example : examples()) {
      assertThat(SCHEMAS).as(example.toString()).containsKey(example.kind());
      assertThat(Schemas.check(SCHEMAS.get(example.kind()), example.json().getBytes(UTF_8)))
          .as(example.toString())
          .isEmpty();
    }
  }

  @Test
  void theParsersAcceptEveryEventAndControlEvent() throws IOException {
    EventParser events = new EventParser(1 << 20);
    ControlParser controls = new ControlParser();
    for (Example example : examples()) {
      byte[] json = example.json().getBytes(UTF_8);
      switch (example.kind()) {
        case "event" ->
            assertThat(events.parse(json, new Origin(0, 0, 0)).isValid())
                .as(example.toString())
                .isTrue();
        case "control" -> assertThat(controls.parse(json).reason()).as(example.toString()).isNull();
        default -> {}
      }
    }
  }

  @Test
  void everyTypeHasAnExample() throws IOException {
    List<String> events = types("event");
    for (EventKind kind : EventKind.values()) {
      assertThat(events).contains(kind.name().toLowerCase(Locale.ROOT));
    }
    assertThat(types("control")).contains("erase_tenant", "drain", "limits", "tiers");
    assertThat(types("kv-event")).contains("engine", "stored");
  }

  private static List<String> types(String kind) throws IOException {
    return examples().stream()
        .filter(example -> example.kind().equals(kind))
        .map(example -> Schemas.tree(example.json().getBytes(UTF_8)).path("type"))
        .map(JsonNode::asText)
        .toList();
  }

  @Test
  void everyFieldOfTheSchemasIsDescribed() throws IOException {
    assertNamed(page("events.md") + page("fields.md"), "conversation-event");
    for (String schema : List.of("reply", "reply-delta", "dead-letter")) {
      assertNamed(page("replies.md"), schema);
    }
    assertNamed(page("control.md"), "control-event");
    assertNamed(page("kv-events.md"), "kv-event");
  }

  private static void assertNamed(String page, String schema) throws IOException {
    Set<String> fields = new TreeSet<>();
    Path file = Path.of("src", "main", "resources", "schema", schema + ".schema.json");
    collect(Schemas.tree(Files.readAllBytes(file)), fields);
    assertThat(fields).isNotEmpty();
    String prose = BLOCK.matcher(page).replaceAll("");
    for (String field : fields) {
      assertThat(prose)
          .as("%s of %s", field, schema)
          .containsPattern("[`.\"]" + Pattern.quote(field) + "[`\"]");
    }
  }

  private static void collect(JsonNode node, Set<String> fields) {
    node.path("properties").fieldNames().forEachRemaining(fields::add);
    node.forEach(child -> collect(child, fields));
  }
}
