package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.gateway.responses.ResponseIds.ItemId;
import io.radixflow.gateway.responses.ResponseIds.TurnId;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseIdsTest {

  @Provide
  Arbitrary<String> ids() {
    return Arbitraries.of("a", "Z", "0", " ", "-", "_", ".", "/", "\"", "ä", "好", "😀")
        .list()
        .ofMinSize(1)
        .ofMaxSize(100)
        .map(parts -> String.join("", parts));
  }

  @Property
  void aResponseIdNamesItsSessionAndTurn(
      @ForAll("ids") String session, @ForAll("ids") String turn) {
    for (String tag : List.of("", ResponseIds.tag("Be brief."))) {
      String id = ResponseIds.response(session, turn, tag);
      assertThat(id).matches("resp_[A-Za-z0-9_-]+");
      assertThat(ResponseIds.parseResponse(id)).contains(new TurnId(session, turn, tag));
    }
  }

  @Property
  void anItemIdNamesItsTurnAndPosition(
      @ForAll("ids") String turn, @ForAll @IntRange(min = -1, max = 1000) int position) {
    assertThat(ResponseIds.parseItem(ResponseIds.item(turn, position)))
        .contains(new ItemId(turn, position));
  }

  @Property
  void anyTextIsReadWithoutFailing(@ForAll String text) {
    assertThat(ResponseIds.parseItem(text)).isEmpty();
    assertThat(ResponseIds.parseResponse(text)).isEmpty();
    assertThat(ResponseIds.isConversation(text)).isFalse();
    ResponseIds.parseResponse("resp_" + text);
    ResponseIds.parseItem("msg_" + text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "resp_",
        "resp_YQ",
        "resp_AAA",
        "resp_YQBi=",
        "resp_YQBj ",
        "resp_AGI",
        "resp_YQA",
        "resp_YQAKYg",
        "resp__w",
        "RESP_YQBi",
        "resp_YQBiAGM",
        "msg_YQBi"
      })
  void whatNoGatewayMadeIsNoResponseId(String id) {
    assertThat(ResponseIds.parseResponse(id)).isEmpty();
  }

  @Test
  void anIdOfTheLargestNamesIsReadAndALargerOneIsNot() {
    String most = "😀".repeat(256);
    assertThat(ResponseIds.parseResponse(ResponseIds.response(most, most, ""))).isPresent();
    assertThat(ResponseIds.parseResponse(ResponseIds.response(most + "a", "t", ""))).isEmpty();
    assertThat(ResponseIds.parseResponse("resp_" + "A".repeat(1 << 20))).isEmpty();
  }

  @Test
  void aConversationIdSaysWhenItWasMade() {
    String id = ResponseIds.newConversation(1_795_401_944_743L);
    assertThat(ResponseIds.isConversation(id)).isTrue();
    assertThat(ResponseIds.createdAt(id)).isEqualTo(1_795_401_944L);
  }
}
