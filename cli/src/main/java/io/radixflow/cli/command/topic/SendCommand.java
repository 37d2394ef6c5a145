package io.radixflow.cli.command.topic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.chat.ChatTurnEnd;
import io.radixflow.cli.command.chat.ReplyView;
import io.radixflow.cli.command.common.BrokerOptions;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.EventSender;
import io.radixflow.client.config.Settings;
import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.event.ParsedEvent;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.ReplyLimiter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sends one event to the job. */
@Command(
    name = "send",
    description = {
      "Send one event to a running job, and follow its reply if --follow is given.",
      "Words after the options are the user's message or, for open, the system prompt."
    })
public final class SendCommand extends CliCommand {
  private static final int MAX_EVENT_BYTES = 4 << 20;
  private static final int MAX_REPLY_BYTES = 64 << 20;

  @Mixin BrokerOptions brokers;

  @Option(names = "--session", paramLabel = "ID", description = "The session (default: a new one).")
  String session;

  @Option(names = "--turn", paramLabel = "ID", description = "The turn (default: a new id).")
  String turn;

  @Option(
      names = "--tenant",
      paramLabel = "NAME",
      description = "The tenant that the session belongs to (default: none).")
  String tenant;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "The event's type, such as regenerate, cancel or query.")
  String type = "message";

  @Option(
      names = "--field",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "NAME=JSON",
      description = "Another field of the event, such as --field max_tokens=20.")
  List<String> fields = List.of();

  @Option(
      names = "--follow",
      description =
          "Print the reply as it grows, until it is committed; for a query, print the "
              + "JSON of its answer.")
  boolean follow;

  @Parameters(
      arity = "0..*",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "TEXT",
      description = "The user's message.")
  List<String> words = List.of();

  SendCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws InterruptedException {
    ConversationEvent event = event();
    Settings settings = brokers.load();
    return follow ? follow(event, settings) : send(event, settings);
  }

  private int send(ConversationEvent event, Settings settings) throws InterruptedException {
    try (EventSender sender = new EventSender(settings)) {
      await(sender.send(event), "cannot send");
    }
    String turn = event.turn() == null ? "" : ", turn " + event.turn();
    out().println("sent session " + event.session() + turn);
    return 0;
  }

  private int follow(ConversationEvent event, Settings settings) throws InterruptedException {
    try (ConversationClient client = new ConversationClient(settings)) {
      ReplyView view = new ReplyView(out());
      Reply reply = await(client.ask(event, view), "no reply");
      ChatTurnEnd end = ChatTurnEnd.of(reply);
      if (event.kind() == EventKind.QUERY) {
        // the answer to a query is not in the text but in other fields
        byte[] record = new ReplyLimiter(MAX_REPLY_BYTES).write(reply);
        out().print(new String(record, StandardCharsets.UTF_8));
      }
      out().println();
      out().flush();
      err().println("session " + event.session() + ": " + end.line());
      return end.failed() ? 1 : 0;
    }
  }

  /** Returns the event, after the same checks as in the job. */
  private ConversationEvent event() {
    ObjectNode json = JsonLineOutput.object();
    json.put("type", type);
    json.put("session", session == null ? newId() : session);
    boolean needsTurn = !List.of("open", "cancel", "close", "erase", "prefetch").contains(type);
    if (turn != null || needsTurn) {
      json.put("turn", turn == null ? newId() : turn);
    }
    if (tenant != null) {
      json.put("tenant", tenant);
    }
    if (!words.isEmpty()) {
      String role = type.equals("open") ? "system" : "user";
      json.putArray("messages")
          .addObject()
          .put("role", role)
          .put("content", String.join(" ", words));
    }
    fields.forEach(field -> JsonLineInput.putField(json, field));
    byte[] bytes = json.toString().getBytes(StandardCharsets.UTF_8);
    ParsedEvent parsed =
        new EventParser(MAX_EVENT_BYTES)
            .parse(bytes, new Origin(-1, 0, System.currentTimeMillis()));
    CliException.throwIf(!parsed.isValid(), "the event is not valid: " + parsed.reason());
    if (follow && (parsed.event().turn() == null || parsed.event().kind() == EventKind.CANCEL)) {
      throw new CliException("--follow needs an event that is answered; " + type + " is not");
    }
    return parsed.event();
  }

  private static String newId() {
    return UUID.randomUUID().toString().substring(0, 8);
  }

  private static <T> T await(CompletableFuture<T> future, String failed)
      throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw new CliException(failed + ": " + Errors.line(e.getCause()), e);
    }
  }
}
