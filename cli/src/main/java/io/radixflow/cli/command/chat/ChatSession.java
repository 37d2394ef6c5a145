package io.radixflow.cli.command.chat;

import io.radixflow.client.ConversationClient;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** One conversation over Kafka; its turns are numbered. */
public final class ChatSession {
  private final ConversationClient client;
  private final String tenant;
  private final String id;
  private int turns;

  private ChatSession(ConversationClient client, String tenant, String id) {
    this.client = client;
    this.tenant = tenant;
    this.id = id;
  }

  /**
   * Opens a conversation.
   *
   * @param tenant the owner; empty for none
   * @param id an unused session id
   * @param system the system prompt, or null for the template's own
   * @param options default options of the session
   */
  public static ChatSession open(
      ConversationClient client,
      String tenant,
      String id,
      String system,
      GenerationOptions options) {
    ChatSession session = new ChatSession(client, tenant, id);
    List<Message> messages = system == null ? List.of() : List.of(new Message("system", system));
    client.send(session.event(EventKind.OPEN, null, messages, options));
    return session;
  }

  public CompletableFuture<Reply> ask(String text, ReplyView view) {
    return follow(EventKind.MESSAGE, List.of(new Message("user", text)), view);
  }

  CompletableFuture<Reply> regenerate(ReplyView view) {
    return follow(EventKind.REGENERATE, null, view);
  }

  void cancel() {
    client.send(event(EventKind.CANCEL, null, null, null));
  }

  boolean isFresh() {
    return turns == 0;
  }

  private CompletableFuture<Reply> follow(EventKind kind, List<Message> messages, ReplyView view) {
    turns++;
    CompletableFuture<Reply> reply = client.ask(event(kind, "turn-" + turns, messages, null), view);
    reply.whenComplete(
        (committed, failure) -> {
          if (failure != null) {
            view.end().completeExceptionally(failure);
          }
        });
    return reply;
  }

  private ConversationEvent event(
      EventKind kind, String turn, List<Message> messages, GenerationOptions options) {
    return ConversationEvent.builder(kind, id, turn)
        .tenant(tenant)
        .messages(messages)
        .options(options)
        .build();
  }
}
