package io.radixflow.protocol.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControlSchemaTest {
  private static final List<String> TYPES =
      List.of("\"drain\"", "\"erase_tenant\"", "\"limits\"", "\"tiers\"", "\"stop\"", "null", "3");
  private static final List<String> TENANTS = List.of("", "null", "\"acme\"", "\"a\\u0000\"", "3");
  private static final List<String> VALUES =
      List.of(
          "",
          "null",
          "3",
          "\"off\"",
          "\"on\"",
          "\"of\"",
          "\"\"",
          "\"max_queued_per_tenant=3\"",
          "\"max_queued_per_tenant=3,max_sessions_per_tenant=\"",
          "\" max_queued_per_session = 1 , max_queued_per_taskmanager=999999999 \"",
          "\"max_queued_per_session=-1\"",
          "\"max_queued_per_session=1000000000\"",
          "\"max_queued_per_session=1,\"",
          "\"max_queued_per_session\"",
          "\"speed=9\"");
  private static final List<String> ACTIONS =
      List.of("", "null", "\"attach\"", "\"resize\"", "\"flush\"", "\"detach\"", "\"\"", "1");
  private static final List<String> TIERS = List.of("", "null", "\"host\"", "\"disk\"", "\"tape\"");
  private static final List<String> SIZES =
      List.of(
          "",
          "null",
          "\"20gb\"",
          "\"4096\"",
          "\"999999tb\"",
          "\"0\"",
          "\"-1gb\"",
          "\"20 gb\"",
          "\"1eb\"",
          "\"1000000tb\"",
          "\"9999999999999999999\"",
          "20");

  private static ControlParser.Parsed parse(String json) {
    return new ControlParser().parse(json.getBytes(UTF_8));
  }

  private static void agree(String json) {
    ControlParser.Parsed parsed = parse(json);
    assertThat(parsed.event() != null)
        .as(json + ": " + parsed.reason())
        .isEqualTo(Schemas.check(Schemas.CONTROL, json.getBytes(UTF_8)).isEmpty());
    assertThat((parsed.event() == null) != (parsed.reason() == null)).isTrue();
  }

  private static String document(String... namesAndValues) {
    List<String> fields = new ArrayList<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      if (!namesAndValues[i + 1].isEmpty()) {
        fields.add("\"" + namesAndValues[i] + "\":" + namesAndValues[i + 1]);
      }
    }
    return "{" + String.join(",", fields) + "}";
  }

  @Test
  void theParserAcceptsExactlyWhatTheSchemaAccepts() {
    List.of("{}", "[]", "{\"type\":\"drain\",\"x\":1}", "{\"tenant\":\"a\"}")
        .forEach(s -> agree(s));
    for (String type : TYPES) {
      for (String tenant : TENANTS) {
        for (String value : VALUES) {
          agree(document("type", type, "tenant", tenant, "value", value));
          agree(document("type", type, "tenant", tenant, "value", value, "tier", "\"disk\""));
        }
      }
      for (String action : ACTIONS) {
        for (String tier : TIERS) {
          for (String size : SIZES) {
            agree(document("type", type, "action", action, "tier", tier, "size", size));
          }
          agree(document("type", type, "action", action, "tier", tier, "value", "\"x\""));
          agree(document("type", type, "action", action, "tier", tier, "tenant", "\"x\""));
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "attach,host,,attach host",
    "attach,disk,20gb,attach disk 21474836480",
    "detach,disk,,detach disk",
    "resize,disk,1048576,resize disk 1048576",
    "resize,host,,resize host",
    "flush,host,,flush host"
  })
  void anEventForATierSaysWhatBecomesOfIt(String action, String tier, String size, String value) {
    String json =
        document(
            "type",
            "\"tiers\"",
            "action",
            "\"" + action + "\"",
            "tier",
            "\"" + tier + "\"",
            "size",
            size == null ? "" : "\"" + size + "\"");
    assertThat(parse(json).event()).isEqualTo(new ControlEvent(ControlKind.TIERS, null, value));
  }

  @Test
  void theTenantToEraseIsNotChanged() {
    assertThat(parse("{\"type\":\"erase_tenant\",\"tenant\":\"a\"}").event())
        .isEqualTo(new ControlEvent(ControlKind.ERASE_TENANT, "a", null));
  }

  @Test
  void limitsThatCannotBeReadAreRefusedBeforeTheyReachTheJob() {
    assertThat(parse("{\"type\":\"limits\",\"value\":\"max_queued_per_session=8\"}").event())
        .isEqualTo(new ControlEvent(ControlKind.LIMITS, null, "max_queued_per_session=8"));
    assertThat(parse("{\"type\":\"limits\",\"value\":\"speed=9\"}").reason())
        .startsWith("value sets an unknown limit; known are max_queued_per_session, ");
    assertThat(
            parse("{\"type\":\"limits\",\"tenant\":\"a\",\"value\":\"max_queued_per_session=1\"}")
                .reason())
        .isEqualTo(
            "value sets an unknown limit of a tenant; known are max_queued_per_tenant,"
                + " max_sessions_per_tenant");
    assertThat(parse("{\"type\":\"limits\",\"value\":\"max_queued_per_session=-1\"}").reason())
        .isEqualTo("value has an entry that is not name=number");
    assertThat(parse("{\"type\":\"limits\"}").reason())
        .isEqualTo("value is missing: limits need a value such as max_queued_per_tenant=100");
    assertThat(parse("{\"type\":\"drain\",\"value\":\"of\"}").reason())
        .isEqualTo("value is \"of\"; it must be one of on, off. Did you mean on?");
  }

  @Test
  void theReasonNamesTheFieldThatIsWrong() {
    assertThat(parse("{\"type\":\"tiers\",\"action\":\"atach\",\"tier\":\"disk\"}").reason())
        .isEqualTo(
            "action is \"atach\"; it must be one of attach, detach, resize, flush."
                + " Did you mean attach?");
    assertThat(
            parse("{\"type\":\"tiers\",\"action\":\"flush\",\"tier\":\"disk\",\"size\":\"1gb\"}")
                .reason())
        .isEqualTo("size is not a field of flush");
    assertThat(parse("{\"type\":\"drain\",\"tier\":\"disk\"}").reason())
        .isEqualTo("tier is a field of tiers events only");
    assertThat(
            parse(
                    "{\"type\":\"tiers\",\"action\":\"resize\",\"tier\":\"disk\",\"size\":\"9\u00a0gb\"}")
                .reason())
        .isEqualTo("size is \"9\u00a0gb\"; it must be a size such as 512mb or 20gb");
  }
}
