package io.radixflow.cli.command.topic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.state.SavedMessage;
import io.radixflow.cli.state.SavedSession;
import io.radixflow.cli.state.Savepoint;
import io.radixflow.models.io.ScratchDirectory;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what a savepoint contains. */
@Command(
    name = "state",
    description = {
      "Show what a savepoint or a kept checkpoint of the job contains: tenants, sessions, their"
          + " sizes, turns without a reply, and the last known tiers of their cached pages.",
      "With --session, show one conversation as text. Nothing is changed."
    })
public final class StateCommand extends CliCommand {
  @Parameters(
      paramLabel = "SAVEPOINT",
      description = "The directory of the savepoint or checkpoint (the one with _metadata).")
  Path path;

  @Option(
      names = "--session",
      paramLabel = "ID",
      description = "Show the conversation of this session.")
  String session;

  @Option(
      names = "--json",
      description =
          "Print one JSON object per line: each session, or each message of the " + "conversation.")
  boolean json;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Number of sessions to show, the " + "largest first.")
  int limit = 20;

  StateCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    if (limit < 0) {
      throw new CliException("--limit is " + limit + "; it must be 0 or more");
    }
    // the files contain conversations, so all of them must be deleted
    try (ScratchDirectory temporary = ScratchDirectory.create("state");
        Progress progress = progress("reading " + path)) {
      Savepoint savepoint = new Savepoint(path, temporary.path());
      if (session != null) {
        conversation(savepoint, progress);
      } else if (json) {
        JsonLineOutput lines = new JsonLineOutput(out(), false);
        savepoint.sessions(each -> lines.write(json(each)));
      } else {
        StateTable table = new StateTable(limit);
        savepoint.sessions(table::add);
        progress.close();
        table.print(out());
      }
    }
    return 0;
  }

  private void conversation(Savepoint savepoint, Progress progress) throws IOException {
    List<SavedMessage> messages = new ArrayList<>();
    savepoint.conversation(session, messages::add);
    progress.close();
    CliException.throwIf(
        messages.isEmpty(), "the savepoint has no conversation of session '" + session + "'");
    JsonLineOutput lines = new JsonLineOutput(out(), false);
    for (SavedMessage message : messages) {
      if (json) {
        lines.write(json(message));
      } else {
        StateTable.print(out(), message);
      }
    }
  }

  private static ObjectNode json(SavedSession session) {
    SessionPages pages = session.pages();
    TierTokens tokens = pages == null ? TierTokens.NONE : pages.tokens();
    return JsonLineOutput.object()
        .put("session", session.session())
        .put("tenant", session.tenant())
        .put("life", session.life())
        .put("state", session.state())
        .put("branches", session.branches())
        .put("turns", session.turns())
        .put("tokens", session.tokens())
        .put("characters", session.characters())
        .put("pending", session.pending())
        .put("turn_ids", session.turnIds())
        .put("last_event", session.lastEvent())
        .put("committed_tokens", pages == null ? 0 : pages.committedTokens())
        .put("device_tokens", tokens.device())
        .put("host_tokens", tokens.host())
        .put("disk_tokens", tokens.disk())
        .put("remote_tokens", tokens.remote())
        .put("last_used", pages == null ? null : pages.lastUsed())
        .put("as_of", pages == null ? null : pages.asOf())
        .put("numerics_epoch", pages == null ? null : pages.numericsEpoch())
        .put("disk", pages == null ? null : pages.disk())
        .put("remote", pages == null ? null : pages.remote());
  }

  private static ObjectNode json(SavedMessage message) {
    Message said = message.message();
    ObjectNode json =
        JsonLineOutput.object()
            .put("branch", message.branch())
            .put("turn", message.turn())
            .put("role", said.role())
            .put("content", said.content())
            .put("finish_reason", message.finishReason());
    if (said.reasoning() != null) {
      json.put("reasoning_content", said.reasoning());
    }
    if (said.toolCallId() != null) {
      json.put("tool_call_id", said.toolCallId());
    }
    for (ToolCall call : said.toolCalls()) {
      json.withArray("tool_calls")
          .addObject()
          .put("id", call.id())
          .put("type", "function")
          .putObject("function")
          .put("name", call.name())
          .put("arguments", call.arguments());
    }
    return json;
  }
}
