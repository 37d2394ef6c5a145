package io.radixflow.engine.loop;

import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.Request;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drops cached pages of an ended turn that the next turn cannot use. If the chat template drops the
 * reasoning of the model, the pages of the reasoning are freed. The visible answer then has other
 * positions, so its pages are computed again while the engine is idle.
 *
 * @param intake runs a tenant's templates
 * @param engine runs tasks on the engine thread, which owns the pages
 */
record TurnTrimmer(
    KvPages pages, IdlePrefill idle, BiConsumer<String, Runnable> intake, Executor engine) {
  private static final Logger LOG = LoggerFactory.getLogger(TurnTrimmer.class);

  /** Trims a turn that has ended at a position; engine thread. */
  void ended(Request turn, SessionPosition end) {
    if (turn.isComplete()
        && turn.spec.session().next() != null
        && !turn.spec.hints().noStore()
        && !turn.slot.isClosed()) {
      intake.accept(turn.spec.service().tenant(), () -> compare(turn, end));
    }
  }

  private void compare(Request turn, SessionPosition end) {
    int[] next;
    try {
      next = turn.spec.session().next().ids(turn.tokens.reply());
    } catch (RuntimeException e) { // this is only a prediction; the next turn makes its own prompt
      LOG.warn("The next prompt after {} cannot be predicted: {}", turn.spec.label(), e.toString());
      return;
    }
    if (next != null) {
      int kept = end.sharedTokens(next, next.length);
      engine.execute(() -> cut(turn, end, next, kept));
    }
  }

  private void cut(Request turn, SessionPosition end, int[] next, int kept) {
    SessionPosition position = pages.cut(turn, end, kept);
    if (position != null && next.length > kept) {
      idle.offer(turn, position, next);
    }
  }
}
