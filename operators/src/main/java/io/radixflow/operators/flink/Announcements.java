package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.SessionRef;
import io.radixflow.operators.record.CacheHints;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.ServiceClass;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.SessionSlot;
import java.util.List;

/**
 * Tells the engine of turns that will come, so that it gets their pages ready. Nothing of that is
 * in state: it changes no reply, and after a failure the turn does without. The task's thread alone
 * calls it.
 */
final class Announcements {
  private final History history;
  private final TurnQueues queues;
  private final TenantNamespaces namespaces;
  private final Prompts prompts;
  private final ServingEngine engine;
  private final ServingMetrics metrics;

  Announcements(
      History history,
      TurnQueues queues,
      TenantNamespaces namespaces,
      Prompts prompts,
      ServingEngine engine,
      ServingMetrics metrics) {
    this.history = history;
    this.queues = queues;
    this.namespaces = namespaces;
    this.prompts = prompts;
    this.engine = engine;
    this.metrics = metrics;
  }

  /**
   * A turn of the current session will come. Of no effect if the branch has turns, whose pages are
   * ready or on their way, or nothing that a prompt could begin with.
   */
  void announce(ConversationEvent event, SessionSlot slot) throws Exception {
    String branch = event.branch();
    if (!history.hasBranch(branch) || queues.has(event.session(), branch)) {
      return;
    }
    Conversation conversation = Conversation.of(history.system(slot), history.path(branch));
    if (!conversation.isEmpty()) {
      metrics.prefetched(engine.engine().prefetch(expected(event, slot, conversation)));
    }
  }

  private EngineRequest expected(
      ConversationEvent event, SessionSlot slot, Conversation conversation) {
    EngineRequest.PromptSource prompt = prompts.assembly(conversation, List.of(), 1);
    if (namespaces.sharesSystemPrompt(slot)) {
      prompt = prompts.shared(prompt, conversation.system());
    }
    String session = event.session();
    return EngineRequest.builder(session + " (expected)", prompt, 1)
        .namespace(namespaces.namespace(slot))
        .session(new SessionRef(slot.tenant(), session, event.branch()))
        .service(new ServiceClass(slot.tenant(), 0, session))
        .hints(event.cache() == null ? CacheHints.NONE : event.cache())
        .build();
  }
}
