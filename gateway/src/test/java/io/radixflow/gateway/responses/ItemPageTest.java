package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.protocol.json.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ItemPageTest {

  private static List<ObjectNode> items(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> JsonNodeFactory.instance.objectNode().put("id", "i" + i))
        .toList();
  }

  @Property
  void pagesTogetherHaveAllItemsInOrder(
      @ForAll @IntRange(max = 45) int count,
      @ForAll @IntRange(min = 1, max = 20) int limit,
      @ForAll boolean ascending) {
    List<String> seen = new ArrayList<>();
    String after = null;
    boolean more = true;
    while (more) {
      ObjectNode page =
          ItemPage.of(after, Integer.toString(limit), ascending ? "asc" : "desc").of(items(count));
      page.get("data").forEach(item -> seen.add(item.get("id").textValue()));
      after = page.get("last_id").textValue();
      more = page.get("has_more").booleanValue();
    }
    assertThat(seen)
        .isEqualTo(
            IntStream.range(0, count)
                .mapToObj(i -> "i" + (ascending ? i : count - 1 - i))
                .toList());
  }

  @Test
  void whatIsNoPageIsRefused() {
    assertThatThrownBy(() -> ItemPage.of(null, "101", null))
        .isInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> ItemPage.of(null, null, "up"))
        .isInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> ItemPage.of("x", null, null).of(items(3)))
        .isInstanceOf(InvalidInputException.class);
  }
}
