package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.gateway.api.RequestFields;
import io.radixflow.gateway.api.TurnErrors;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.responses.ResponseIds.ItemId;
import io.radixflow.gateway.turn.Turns;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Conversations and their items. A conversation is a session; adding an item adds a turn. */
public final class ConversationsEndpoints implements EndpointGroup {

  /** The maximum number of items that one request may add, as in OpenAI's API. */
  private static final int MAX_ADDED = 20;

  private static final String ALL = "/v1/conversations";
  private static final String ONE = ALL + "/{id}";
  private static final String ITEMS = ONE + "/items";

  private final Asking asking;
  private final ConversationLookup conversations;
  private final ConversationList all;

  /**
   * @param all the conversations that can be listed; null if the conversation index is off
   */
  public ConversationsEndpoints(Turns turns, ConversationList all) {
    this.asking = new Asking(turns);
    this.conversations = new ConversationLookup(asking);
    this.all = all;
  }

  @Override
  public void addTo(Routes routes) {
    routes.add(HttpMethod.GET, ALL, this::listAll);
    routes.add(HttpMethod.POST, ALL, this::create);
    routes.add(HttpMethod.GET, ONE, exchange -> found(exchange, () -> show(exchange)));
    routes.add(HttpMethod.POST, ONE, this::update);
    routes.add(HttpMethod.DELETE, ONE, exchange -> found(exchange, () -> delete(exchange)));
    routes.add(HttpMethod.GET, ITEMS, this::list);
    routes.add(HttpMethod.POST, ITEMS, this::add);
    routes.add(HttpMethod.GET, ITEMS + "/{item}", this::item);
    routes.add(HttpMethod.DELETE, ITEMS + "/{item}", this::deleteItem);
  }

  private void found(Exchange exchange, Runnable then) {
    conversations.find(exchange, id(exchange), items -> then.run());
  }

  private static String id(Exchange exchange) {
    return exchange.pathParameter("id");
  }

  private void listAll(Exchange exchange) {
    if (all == null) {
      throw ApiException.notFound(
          "conversations are not listed: set "
              + SharedConfig.INDEX.key()
              + " to true for the job and for the gateway");
    }
    ObjectNode page =
        all.page(
            exchange.caller().tenant(), exchange.queryParameter("search"), ItemPage.of(exchange));
    exchange.json(page);
  }

  private void create(Exchange exchange) {
    List<Message> items = items(exchange, Set.of("items", "metadata"));
    Metadata metadata = Metadata.of(body(exchange));
    String id = ResponseIds.newConversation(System.currentTimeMillis());
    List<ConversationEvent> events = new ArrayList<>();
    events.add(Asking.event(exchange, EventKind.OPEN, id).build());
    if (!metadata.entries().isEmpty()) {
      events.add(ConversationLookup.newMetadata(exchange, id, metadata));
    }
    items.forEach(item -> events.add(append(exchange, id, item)));
    all(exchange, events, () -> answer(exchange, id, metadata));
  }

  private static void answer(Exchange exchange, String id, Metadata metadata) {
    exchange.json(ResponseJson.conversation(id, metadata.entries()));
  }

  private static JsonObject body(Exchange exchange) {
    return JsonObject.of(exchange.body(), "the body");
  }

  /** Reads the items to add, and names fields that have no effect. */
  private static List<Message> items(Exchange exchange, Set<String> served) {
    List<String> ignored = new ArrayList<>();
    JsonObject body = RequestFields.check(exchange, served, Set.of());
    if (body.objects("items", "items", MAX_ADDED).isEmpty()) {
      return List.of();
    }
    List<Message> items =
        InputItems.read(body, "items", new ContentParts(exchange.refusesParts(), ignored::add));
    RequestFields.ignore(exchange, ignored);
    return items;
  }

  private static ConversationEvent append(Exchange exchange, String id, Message item) {
    return Asking.event(exchange, EventKind.APPEND, id).messages(List.of(item)).build();
  }

  /** Sends events. Each event is sent after the event before it has succeeded. */
  private void all(Exchange exchange, List<ConversationEvent> events, Runnable then) {
    if (events.isEmpty()) {
      then.run();
      return;
    }
    asking.ask(
        exchange,
        events.get(0),
        answer -> {
          ApiException error = TurnErrors.of(answer);
          if (error != null) {
            throw error;
          }
          all(exchange, events.subList(1, events.size()), then);
        });
  }

  private void show(Exchange exchange) {
    String id = id(exchange);
    conversations.metadata(exchange, id, entries -> answer(exchange, id, new Metadata(entries)));
  }

  private void update(Exchange exchange) {
    JsonObject body = RequestFields.check(exchange, Set.of("metadata"), Set.of());
    Metadata metadata = Metadata.of(body.require("metadata"));
    String id = id(exchange);
    found(
        exchange,
        () ->
            all(
                exchange,
                List.of(ConversationLookup.newMetadata(exchange, id, metadata)),
                () -> answer(exchange, id, metadata)));
  }

  private void delete(Exchange exchange) {
    String id = id(exchange);
    asking.ask(
        exchange,
        // most conversations have no metadata to erase, so the answer is ignored
        Asking.event(exchange, EventKind.ERASE, ConversationLookup.metadataSession(id)).build(),
        ignored ->
            all(
                exchange,
                List.of(Asking.event(exchange, EventKind.ERASE, id).build()),
                () -> exchange.json(ResponseJson.deleted(id, "conversation.deleted"))));
  }

  private void list(Exchange exchange) {
    ItemPage page = ItemPage.of(exchange);
    conversations.find(
        exchange,
        id(exchange),
        history -> exchange.json(page.of(ConversationLookup.items(history))));
  }

  private void add(Exchange exchange) {
    String id = id(exchange);
    List<Message> items = items(exchange, Set.of("items"));
    if (items.isEmpty()) {
      throw new InvalidInputException("items is missing or empty");
    }
    List<ConversationEvent> events =
        items.stream().map(item -> append(exchange, id, item)).toList();
    found(exchange, () -> all(exchange, events, () -> added(exchange, events)));
  }

  private static void added(Exchange exchange, List<ConversationEvent> events) {
    CustomCalls none = new CustomCalls(Set.of());
    List<ObjectNode> items = new ArrayList<>();
    for (ConversationEvent event : events) {
      items.addAll(ResponseJson.items(event.turn(), 0, event.messages().get(0), List.of(), none));
    }
    exchange.json(new ItemPage(null, MAX_ADDED, false).of(items));
  }

  private void item(Exchange exchange) {
    String wanted = exchange.pathParameter("item");
    conversations.find(
        exchange,
        id(exchange),
        history -> {
          for (ObjectNode item : ConversationLookup.items(history)) {
            if (item.get("id").textValue().equals(wanted)) {
              exchange.json(item);
              return;
            }
          }
          throw ResponseErrors.noItem(wanted);
        });
  }

  private void deleteItem(Exchange exchange) {
    String wanted = exchange.pathParameter("item");
    String turn =
        ResponseIds.parseItem(wanted)
            .map(ItemId::turn)
            .orElseThrow(() -> ResponseErrors.noItem(wanted));
    conversations.find(
        exchange,
        id(exchange),
        history -> {
          long items = history.stream().filter(item -> turn.equals(item.turn())).count();
          if (items == 0) {
            throw ResponseErrors.noItem(wanted);
          }
          if (items > 1) {
            throw ApiException.badRequest(
                null,
                "the item is a part of a response, and is deleted with it: DELETE"
                    + " /v1/responses/{id}");
          }
          ConversationEvent event =
              Asking.event(exchange, EventKind.DELETE_TURN, id(exchange)).atTurn(turn).build();
          all(exchange, List.of(event), () -> show(exchange));
        });
  }
}
