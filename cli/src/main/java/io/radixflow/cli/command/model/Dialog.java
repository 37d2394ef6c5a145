package io.radixflow.cli.command.model;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.PromptException;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * The conversation of one line. Its replies are generated one after another. Each prompt consists
 * of the token ids of the previous prompt and its reply, and of the new turn.
 */
final class Dialog {
  private final ChatTemplate template;
  private final int[] endOfTurn;
  private final GenerateSettings generation;
  private final boolean turns;
  private final List<Message> messages = new ArrayList<>();
  private final Deque<Message> users = new ArrayDeque<>();
  private final List<GeneratedReply> replies = new ArrayList<>();
  private int[] history;

  /** Set on an intake thread; read after the prompt is ready. */
  private volatile int[] promptIds;

  private Dialog(ServedModel model, GenerateSettings generation, boolean turns) {
    this.template = model.chatTemplate();
    this.endOfTurn = model.tokenizer().endOfTurnIds();
    this.generation = generation;
    this.turns = turns;
  }

  /**
   * Reads a line that has either messages or turns.
   *
   * @throws InvalidInputException if a field is missing or wrong
   */
  static Dialog of(JsonObject line, ServedModel model) {
    GenerateSettings generation = GenerateSettings.of(line);
    if (line.has("messages") == line.has("turns")) {
      throw new InvalidInputException("the line must have either messages or turns");
    }
    Dialog dialog = new Dialog(model, generation, line.has("turns"));
    if (dialog.turns) {
      for (JsonObject turn : objects(line, "turns")) {
        dialog.users.add(new Message("user", turn.require("user").text("user")));
      }
      dialog.messages.add(dialog.users.remove());
    } else {
      dialog.messages.addAll(messages(line));
    }
    return dialog;
  }

  /** Returns the chat messages of a line, at least one. */
  static List<Message> messages(JsonObject line) {
    return objects(line, "messages").stream()
        .map(message -> message.require("role", "content"))
        .map(message -> new Message(message.text("role"), message.text("content")))
        .toList();
  }

  private static List<JsonObject> objects(JsonObject line, String field) {
    List<JsonObject> objects = line.require(field).objects(field, field, Integer.MAX_VALUE);
    if (objects.isEmpty()) {
      throw new InvalidInputException(field + " is empty");
    }
    return objects;
  }

  boolean hasTurns() {
    return turns;
  }

  EngineRequest next(String label) {
    List<Message> prompt = List.copyOf(messages);
    int[] before = history;
    return EngineRequest.builder(
            label, () -> promptIds = prompt(prompt, before), generation.maxTokens())
        .sampling(generation.sampling())
        .stop(generation.stop())
        .ignoreEndOfTurn(generation.ignoreEndOfTurn())
        .build();
  }

  /** Returns the ids of the last prompt that is ready. */
  int[] promptIds() {
    return promptIds;
  }

  private int[] prompt(List<Message> prompt, int[] before) throws PromptException {
    try {
      if (before != null) {
        int last = prompt.size() - 1;
        int[] added =
            template.encodeTurn(
                prompt.subList(0, last), prompt.subList(last, last + 1), TemplateOptions.NONE);
        if (added != null) {
          return concat(before, added);
        }
      }
      return template.encode(prompt, true, TemplateOptions.NONE);
    } catch (ChatTemplateException e) {
      throw new PromptException(ErrorCode.INVALID_REQUEST, e.getMessage());
    }
  }

  /** Adds a finished reply; returns whether another turn follows. */
  boolean accept(GeneratedReply reply) {
    replies.add(reply);
    if (users.isEmpty()) {
      return false;
    }
    history = concat(reply.prompt(), closed(reply.ids()));
    messages.add(new Message("assistant", reply.text()));
    messages.add(users.remove());
    return true;
  }

  /**
   * Returns the ids of a reply, with the end token even if the reply stopped for another reason.
   */
  private int[] closed(int[] ids) {
    boolean ended =
        ids.length > 0 && Arrays.stream(endOfTurn).anyMatch(end -> end == ids[ids.length - 1]);
    return ended ? ids : concat(ids, new int[] {endOfTurn[0]});
  }

  List<GeneratedReply> replies() {
    return replies;
  }

  private static int[] concat(int[] first, int[] second) {
    int[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }
}
