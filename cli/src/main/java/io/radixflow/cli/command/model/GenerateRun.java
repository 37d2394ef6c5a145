package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.ReplyProgress;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.protocol.json.InvalidInputException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;

/**
 * Answers the lines of {@code generate} with an engine, several at the same time, and writes the
 * answers in the order of the lines.
 */
final class GenerateRun implements ReplyChannel.ReplyVisitor {
  private final Engine engine;
  private final ServedModel model;
  private final List<JsonLineInput.Line> lines;
  private final ObjectNode[] answers;
  private final String[] errors;
  private final Map<Long, Request> live = new HashMap<>();
  private final List<Request> ended = new ArrayList<>();
  private final Semaphore ready = new Semaphore(0);
  private long requests;

  /** One reply that is being generated. */
  private record Request(int line, Dialog dialog, GeneratedReply reply) {}

  GenerateRun(Engine engine, ServedModel model, List<JsonLineInput.Line> lines) {
    this.engine = engine;
    this.model = model;
    this.lines = lines;
    answers = new ObjectNode[lines.size()];
    errors = new String[lines.size()];
  }

  void run(int batch, JsonLineOutput output, Progress progress) throws InterruptedException {
    ChannelId id = new ChannelId("generate", 0, 0);
    try (ReplyChannel channel = engine.openChannel(id, ready::release)) {
      int started = 0;
      while (output.lines() < lines.size()) {
        while (live.size() < batch && started < lines.size()) {
          start(channel, started++);
        }
        if (!writeAnswered(output)) {
          ready.acquire();
          ready.drainPermits();
          channel.drain(this);
          goOn(channel);
        }
        progress.detail(output.lines() + " of " + lines.size() + " lines");
      }
    }
  }

  private void start(ReplyChannel channel, int line) {
    JsonLineInput.Line input = lines.get(line);
    if (input.error() != null) {
      errors[line] = input.error();
      return;
    }
    try {
      submit(channel, line, Dialog.of(input.fields(), model));
    } catch (InvalidInputException e) {
      errors[line] = e.getMessage();
    }
  }

  private void submit(ReplyChannel channel, int line, Dialog dialog) {
    long id = requests++;
    live.put(id, new Request(line, dialog, new GeneratedReply()));
    engine.submit(channel, id, dialog.next("line " + (line + 1)));
  }

  @Override
  public void promptReady(long requestId) {
    Request request = live.get(requestId);
    request.reply().prompt(request.dialog().promptIds());
  }

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    if (live.get(requestId).reply().add(progress)) {
      ended.add(live.remove(requestId));
    }
  }

  /** Starts the next turn of dialogs whose reply has ended, or keeps their answer. */
  private void goOn(ReplyChannel channel) {
    for (Request request : ended) {
      String error = request.reply().error();
      if (error != null) {
        errors[request.line()] = error;
      } else if (request.dialog().accept(request.reply())) {
        submit(channel, request.line(), request.dialog());
      } else {
        answers[request.line()] = answer(request.dialog());
      }
    }
    ended.clear();
  }

  private static ObjectNode answer(Dialog dialog) {
    if (!dialog.hasTurns()) {
      return dialog.replies().get(0).toJson();
    }
    ObjectNode line = JsonLineOutput.object();
    ArrayNode turns = line.putArray("turns");
    dialog.replies().forEach(reply -> turns.add(reply.toJson()));
    return line;
  }

  /** Writes the next line's answer; returns whether there was one. */
  private boolean writeAnswered(JsonLineOutput output) {
    int next = output.lines();
    if (answers[next] != null) {
      output.write(answers[next]);
    } else if (errors[next] != null) {
      output.writeError(errors[next]);
    } else {
      return false;
    }
    answers[next] = null;
    return true;
  }
}
