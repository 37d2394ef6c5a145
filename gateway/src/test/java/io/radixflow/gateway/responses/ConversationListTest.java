package io.radixflow.gateway.responses;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.gateway.auth.ApiKey;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.topic.ConversationEntryWriter;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConversationListTest {

  private static final String PATH = "/v1/conversations";

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture("session.index=true");

  private static String id(int number) {
    return "conv_" + "%032x".formatted(number);
  }

  private static ConversationEntry entry(String tenant, int number, String title, long updated) {
    return new ConversationEntry(tenant, id(number), title, 0, updated, number, "sim");
  }

  private void index(int number, String title, long updated) {
    gateway.topics().index(entry("", number, title, updated));
  }

  private HttpResponse<String> get(String query) {
    return gateway.send(gateway.get(PATH + query)).join();
  }

  private List<String> titles(String query) {
    return titles(get(query));
  }

  private static List<String> titles(HttpResponse<String> response) {
    return GatewayFixture.json(response.body()).get("data").findValuesAsText("title");
  }

  @Test
  void theConversationThatWasUpdatedLastIsFirst() {
    index(1, "Cats", 1_000);
    index(2, "Dogs", 2_000);
    index(1, "Cats", 3_000);
    JsonNode list = GatewayFixture.json(get("").body());
    assertThat(list.get("object").asText()).isEqualTo("list");
    assertThat(list.get("data").findValuesAsText("id")).containsExactly(id(1), id(2));
    assertThat(list.at("/data/0/updated_at").asLong()).isEqualTo(3);
    assertThat(list.at("/data/0/turns").asInt()).isEqualTo(1);
    assertThat(titles("?order=asc")).containsExactly("Dogs", "Cats");
  }

  @Test
  void pagesHaveAllConversations() {
    for (int i = 0; i < 5; i++) {
      index(i, "t" + i, i);
    }
    JsonNode first = GatewayFixture.json(get("?limit=3").body());
    assertThat(first.get("data").findValuesAsText("title")).containsExactly("t4", "t3", "t2");
    assertThat(first.get("first_id").asText()).isEqualTo(id(4));
    assertThat(first.get("has_more").asBoolean()).isTrue();
    JsonNode second =
        GatewayFixture.json(get("?limit=3&after=" + first.get("last_id").asText()).body());
    assertThat(second.get("data").findValuesAsText("title")).containsExactly("t1", "t0");
    assertThat(second.get("has_more").asBoolean()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"?limit=101", "?order=up", "?after=conv_x"})
  void whatIsNoPageIsRefused(String query) {
    assertThat(get(query).statusCode()).isEqualTo(400);
  }

  @Test
  void titlesAndIdsAreSearchedInAnyCase() {
    index(1, "Überfahrt to Cats", 1);
    index(0xabc, "Dogs", 2);
    assertThat(titles("?search=%C3%BCBERFAHRT%20to")).containsExactly("Überfahrt to Cats");
    assertThat(titles("?search=ABC")).containsExactly("Dogs");
    assertThat(titles("?search=birds")).isEmpty();
  }

  @Test
  void aTombstoneRemovesAConversation() {
    index(1, "Cats", 1);
    index(2, "Dogs", 2);
    gateway.topics().index(ConversationEntry.tombstone("", id(2)));
    gateway.topics().index(ConversationEntry.tombstone("", id(3)));
    assertThat(titles("")).containsExactly("Cats");
  }

  @Test
  void aTenantSeesItsOwnConversationsAlone(@TempDir Path directory) throws IOException {
    ApiKey.Made acme = ApiKey.make("acme", List.of(), 0, 0);
    ApiKey.Made beta = ApiKey.make("beta", List.of(), 0, 0);
    Path file = directory.resolve("keys");
    Files.writeString(file, acme.line().toJson() + "\n" + beta.line().toJson());
    gateway.restart("session.index=true", "gateway.api-keys=" + file);
    gateway.topics().index(entry("acme", 1, "of acme", 1));
    gateway.topics().index(entry("beta", 1, "of beta", 2));
    gateway.topics().index(entry("", 2, "of the default tenant", 3));
    assertThat(titles(get(acme))).containsExactly("of acme");
    gateway.topics().index(ConversationEntry.tombstone("acme", id(1)));
    assertThat(titles(get(acme))).isEmpty();
    assertThat(titles(get(beta))).containsExactly("of beta");
    assertThat(get("").statusCode()).isEqualTo(401);
  }

  private HttpResponse<String> get(ApiKey.Made key) {
    HttpRequest request =
        HttpRequest.newBuilder(gateway.uri(PATH)).header("x-api-key", key.text()).build();
    return gateway.send(request).join();
  }

  @Test
  void sessionsThatAreNoConversationsAreNotListed() {
    gateway.topics().index(new ConversationEntry("", "metadata_" + id(1), "{}", 0, 1, 1, "sim"));
    gateway.topics().index(new ConversationEntry("", "chain_x", "Hi", 0, 1, 1, "sim"));
    assertThat(titles("")).isEmpty();
  }

  @Test
  void anIndexThatIsOffIsNamedWithItsOption() throws IOException {
    gateway.restart();
    HttpResponse<String> response = get("");
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(response.body()).contains("session.index");
  }

  @Test
  void theOldestConversationsLeaveAListThatIsFull() {
    ConversationList list = new ConversationList(2, 3);
    add(list, entry("a", 1, "a1", 1));
    add(list, entry("a", 2, "a2", 2));
    add(list, entry("a", 3, "a3", 3));
    assertThat(titles(list, "a")).containsExactly("a3", "a2");
    add(list, entry("b", 4, "b4", 4));
    add(list, entry("b", 5, "b5", 5));
    assertThat(titles(list, "a")).containsExactly("a3");
    assertThat(titles(list, "b")).containsExactly("b5", "b4");
    list.begin();
    assertThat(titles(list, "b")).isEmpty();
  }

  @Test
  void aRecordThatCannotBeReadIsPassedOver() {
    ConversationList list = new ConversationList();
    list.entry("no json".getBytes(UTF_8), null);
    list.entry("{}".getBytes(UTF_8), "{}".getBytes(UTF_8));
    list.entry(null, null);
    add(list, entry("a", 1, "a1", 1));
    assertThat(titles(list, "a")).containsExactly("a1");
  }

  private static void add(ConversationList list, ConversationEntry entry) {
    list.entry(ConversationEntryWriter.key(entry), ConversationEntryWriter.value(entry));
  }

  private static List<String> titles(ConversationList list, String tenant) {
    return list.page(tenant, null, new ItemPage(null, 100, true))
        .get("data")
        .findValuesAsText("title");
  }
}
