package io.radixflow.operators.flink.turn.run;

import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnDetails;
import io.radixflow.operators.session.TurnOptions;
import io.radixflow.operators.session.TurnParent;
import io.radixflow.operators.session.TurnPlan;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.util.Arrays;
import java.util.List;

/** Decides the conversation and the options of a turn when it starts. */
public record TurnPlanner(ServingOptions options) {
  /** The conversation that a prompt without a chat template follows. */
  private static final Conversation NOTHING = new Conversation(null, 0, List.of());

  private static final TurnParent NO_PARENT = new TurnParent(Turn.ROOT, Turn.ROOT, null);

  /**
   * Plans a message or a regeneration. A regeneration replaces a turn of its branch and all turns
   * after it; its own messages, if it has any, replace the messages of that turn. A prompt without
   * a chat template follows no turn, and replaces the previous prompt in the history.
   *
   * @throws RefusedException if the branch has no reply to make again, or an option is out of range
   */
  TurnPlan plan(SessionContext session, PendingTurn turn) throws Exception {
    SessionSlot slot = session.slot();
    boolean raw = Message.isPrompt(turn.messages());
    Conversation conversation = raw ? NOTHING : session.conversation(turn.branch());
    if (turn.kind() != EventKind.REGENERATE) {
      String name = turn.turn() == null ? "" : turn.turn();
      return new TurnPlan(
          conversation,
          raw ? NO_PARENT : session.parent(turn.branch()),
          name,
          withoutPrefill(turn),
          turn.options(),
          0,
          resolve(slot, turn.options(), seed(session.id(), name, 0)),
          prefill(turn));
    }
    List<Turn> path = conversation.path();
    int at = indexOf(path, turn.atTurn());
    if (at < 0) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_TURN,
          turn.atTurn() == null
              ? "branch '%s' has no reply to make again".formatted(turn.branch())
              : "branch '%s' has no turn '%s'".formatted(turn.branch(), turn.atTurn()));
    }
    Turn old = path.get(at);
    if (old.reply() == null) {
      throw new RefusedException("turn '%s' has no reply to make again".formatted(old.turn()));
    }
    int regeneration = old.regeneration() + 1;
    GenerationOptions given = turn.options() == null ? old.options() : turn.options();
    return new TurnPlan(
        new Conversation(conversation.system(), old.depth(), path.subList(0, at)),
        session.parent(old),
        old.turn(),
        withoutPrefill(turn).isEmpty() ? old.messages() : withoutPrefill(turn),
        given,
        regeneration,
        resolve(slot, given, seed(session.id(), old.turn(), regeneration)),
        turn.messages().isEmpty() ? old.details().prefill() : prefill(turn));
  }

  /** Returns the last message of a turn if the reply continues it, else null. */
  private static Message prefill(PendingTurn turn) {
    return isContinued(turn.options()) && !turn.messages().isEmpty()
        ? turn.messages().get(turn.messages().size() - 1)
        : null;
  }

  private static List<Message> withoutPrefill(PendingTurn turn) {
    int added = turn.messages().size() - (prefill(turn) == null ? 0 : 1);
    return turn.messages().subList(0, added);
  }

  private static boolean isContinued(GenerationOptions options) {
    return options != null && options.continuesMessage();
  }

  /** Returns the number of the turn or root where a fork starts. */
  static long forkedAt(SessionContext session, PendingTurn fork) throws Exception {
    List<Turn> path = session.history().path(fork.branch());
    int at = indexOf(path, fork.atTurn());
    if (at < 0 && fork.atTurn() != null) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_TURN,
          "branch '%s' has no turn '%s'".formatted(fork.branch(), fork.atTurn()));
    }
    return at < 0 ? session.parent(fork.branch()).turn() : path.get(at).id();
  }

  /**
   * Checks the options that a turn would run with.
   *
   * @param messages the messages of the turn
   */
  public void check(SessionSlot slot, GenerationOptions given, List<Message> messages)
      throws RefusedException {
    TurnOptions options = resolve(slot, given, 0);
    boolean raw = Message.isPrompt(messages);
    boolean ends = given != null && given.continueFinalMessage() != null;
    if (raw && (ends || given != null && given.addGenerationPrompt() != null)) {
      throw new RefusedException(
          "continue_final_message and add_generation_prompt are for turns with messages");
    }
    if (isContinued(given) && !messages.isEmpty()) {
      checkContinued(messages.get(messages.size() - 1));
    }
    if (raw && options.prompt().constraint().required()) {
      throw new RefusedException(
          "tool_choice asks for a call, and the reply to a turn with prompt has none:"
              + " send messages");
    }
  }

  private static void checkContinued(Message last) throws RefusedException {
    if (!last.role().equals("assistant")) {
      throw new RefusedException(
          "continue_final_message is true, and the last message has the role \"%s\": only one of"
                  .formatted(last.role())
              + " the assistant can be continued");
    }
    if (!last.toolCalls().isEmpty()) {
      throw new RefusedException(
          "the last message has calls of tools: only text can be continued, so send their results");
    }
  }

  private TurnOptions resolve(SessionSlot slot, GenerationOptions given, long seed)
      throws RefusedException {
    try {
      return TurnOptions.resolve(
          Arrays.asList(given, slot.defaults(), options.defaults()),
          seed,
          options.prompts().defaultMaxTokens());
    } catch (IllegalArgumentException e) {
      throw new RefusedException(e.getMessage());
    }
  }

  /** Plans a turn without a reply. */
  static Turn appended(SessionContext session, PendingTurn turn) throws Exception {
    Conversation before = session.conversation(turn.branch());
    TurnDetails details =
        new TurnDetails(
            turn.branch(),
            turn.accepted(),
            session.now(),
            null,
            Usage.NONE,
            turn.metadata(),
            List.of(),
            null);
    return Turn.appended(
        turn.id(), turn.turn(), turn.messages(), details, session.parent(turn.branch()), before);
  }

  /**
   * Returns the index of a turn by its id; null means the last turn. Returns -1 if there is none.
   */
  private static int indexOf(List<Turn> path, String turn) {
    int at = path.size() - 1;
    while (turn != null && at >= 0 && !path.get(at).isNamed(turn)) {
      at--;
    }
    return at;
  }

  private static long seed(String session, String turn, int regeneration) {
    return StableHash.of64(session, turn, Integer.toString(regeneration));
  }
}
