package io.radixflow.operators.flink;

import io.radixflow.operators.cache.StableHash;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnOptions;
import java.util.Arrays;
import java.util.List;

/** Decides, when a turn's time has come, on what conversation and with what options it runs. */
final class TurnPlanner {
  private final ServingOptions options;

  TurnPlanner(ServingOptions options) {
    this.options = options;
  }

  /**
   * @param session the session's id, part of the default seed
   * @param system the session's system prompt, or null
   * @param path the turns of the turn's branch
   * @throws RefusedException if there is no reply to make again, or an option is out of range
   */
  TurnPlan plan(String session, SessionSlot slot, String system, List<Turn> path, PendingTurn turn)
      throws RefusedException {
    String namespace = options.namespaces().namespace(slot);
    boolean shares = options.namespaces().sharesSystemPrompt(slot);
    if (turn.kind() != EventKind.REGENERATE) {
      String name = turn.turn() == null ? "" : turn.turn();
      return new TurnPlan(
          Conversation.of(system, path),
          path.isEmpty() ? 0 : path.get(path.size() - 1).id(),
          name,
          turn.messages(),
          turn.options(),
          0,
          resolve(slot, turn.options(), seed(session, name, 0)),
          namespace,
          shares);
    }
    int at = indexOf(path, turn.atTurn());
    if (at < 0) {
      throw new RefusedException(
          turn.atTurn() == null
              ? "branch '%s' has no reply to make again".formatted(turn.branch())
              : "branch '%s' has no turn '%s'".formatted(turn.branch(), turn.atTurn()));
    }
    Turn old = path.get(at);
    int regeneration = old.regeneration() + 1;
    GenerationOptions given = turn.options() == null ? old.options() : turn.options();
    return new TurnPlan(
        new Conversation(system, old.depth(), path.subList(0, at)),
        old.parent(),
        old.turn(),
        old.messages(),
        given,
        regeneration,
        resolve(slot, given, seed(session, old.turn(), regeneration)),
        namespace,
        shares);
  }

  /** The options a turn would run with. */
  TurnOptions resolve(SessionSlot slot, GenerationOptions given, long seed)
      throws RefusedException {
    try {
      return TurnOptions.resolve(
          Arrays.asList(given, slot.defaults(), options.defaults()),
          seed,
          options.defaultMaxTokens());
    } catch (IllegalArgumentException e) {
      throw new RefusedException(e.getMessage());
    }
  }

  /** The index of a turn by its id, of the last one for null; -1 if there is none. */
  static int indexOf(List<Turn> path, String turn) {
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
