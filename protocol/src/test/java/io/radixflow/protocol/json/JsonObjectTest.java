package io.radixflow.protocol.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class JsonObjectTest {
  private enum Colour {
    RED,
    BLUE
  }

  private static JsonObject read(String json) throws IOException {
    return JsonObject.of(new ObjectMapper().readTree(json), "the line");
  }

  private static void refuses(ThrowingCallable read, String message) {
    assertThatThrownBy(read)
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(message)
        .satisfies(e -> assertThat(e.getStackTrace()).isEmpty());
  }

  @Test
  void aFieldThatIsAbsentOrNullIsNotGiven() throws IOException {
    JsonObject object = read("{\"a\":null}");
    for (String field : List.of("a", "b")) {
      assertThat(object.has(field)).isFalse();
      assertThat(object.text(field)).isNull();
      assertThat(object.bool(field, true)).isTrue();
      assertThat(object.integer(field, 7)).isEqualTo(7);
      assertThat(object.objects(field, "things", 1)).isEmpty();
      refuses(() -> object.require(field), field + " is missing");
    }
  }

  @Test
  void aWrongFieldIsNamedByItsPath() throws IOException {
    JsonObject object = read("{\"a\":{\"b\":[{\"c\":\"x\"},{\"c\":9,\"d\":2}]},\"e\":\"blu\"}");
    List<JsonObject> elements = object.object("a").objects("b", "things", 2);
    assertThat(elements.get(0).text("c")).isEqualTo("x");
    refuses(() -> elements.get(1).text("c"), "a.b[1].c is a number; it must be a string");
    refuses(() -> elements.get(1).integer("c", 0, 8), "a.b[1].c is 9; it must be 0 to 8");
    refuses(() -> elements.get(1).require("z"), "a.b[1].z is missing");
    refuses(
        () -> elements.get(1).allow(List.of("c", "dd")),
        "a.b[1] has the unknown field \"d\". Did you mean c?");
    refuses(
        () -> object.object("a").objects("b", "things", 1),
        "a.b has 2 things; at most 1 are allowed");
    refuses(
        () -> object.choice("e", Colour.class),
        "e is \"blu\"; it must be one of red, blue. Did you mean blue?");
    refuses(() -> object.allow(List.of("a")), "the field \"e\" is unknown. Did you mean a?");
  }

  @Test
  void numbersAreReadExactly() throws IOException {
    JsonObject object = read("{\"a\":9223372036854775807,\"b\":1e400,\"c\":2.0,\"d\":2.5}");
    assertThat(object.integer("a", 0, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(object.integer("c", 0)).isEqualTo(2);
    refuses(() -> object.integer("d", 0), "d is 2.5; it must be an integer");
    assertThatThrownBy(() -> object.integer("b", 0)).isInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> object.number("b", 0)).isInstanceOf(InvalidInputException.class);
  }

  @Test
  void aFieldOfTextsTakesOneStringOrAnArray() throws IOException {
    JsonObject object = read("{\"a\":\"x\",\"b\":[\"x\",\"y\"],\"c\":[1],\"d\":{}}");
    assertThat(object.texts("a", 2)).containsExactly("x");
    assertThat(object.texts("b", 2)).containsExactly("x", "y");
    refuses(() -> object.texts("b", 1), "b has 2 strings; at most 1 are allowed");
    refuses(() -> object.texts("c", 1), "c[0] is a number; it must be a string");
    refuses(
        () -> object.texts("d", 1), "d is an object; it must be a string or an array of strings");
  }

  @Test
  void whatIsNotAnObjectIsRefused() {
    refuses(() -> read("[]"), "the line is not a JSON object");
    refuses(() -> read("1"), "the line is not a JSON object");
  }
}
