package io.radixflow.operators.flink.turn.end;

import io.radixflow.engine.PageNames;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.erasure.Erasures;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.prompt.SharedSystemPrompt;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.SessionEnding;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.ChatTemplate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.apache.flink.util.function.RunnableWithException;

/**
 * Erases the pages of text that leaves a session's history. So the tiers below the device only have
 * pages of the session's history and of its running turns, and pages that {@link Erasures} has
 * still to erase. If other engines ran turns of the session, they also erase their pages. Every
 * call acts on the current key.
 *
 * @param attempt attempt of the operator; turns that were accepted before it may have run elsewhere
 */
public record SessionErasure(
    TenantNamespaces namespaces,
    ServingEngine engine,
    Erasures erasures,
    ConversationIndex index,
    long attempt) {
  /**
   * Token ids of a conversation.
   *
   * @param system the system prompt of the conversation, or null
   */
  private record Text(int[] ids, String system) {}

  private boolean hasPages(SessionContext session) {
    return session.slot().opened() && engine.tiers().enabled();
  }

  /**
   * Removes a session from the index, and erases the pages of all branches, which are about to be
   * removed from the history. Pages of an erased session are erased from all engines, because
   * sessions with the same text may have left them there. The texts that the engines keep are
   * erased as well. If the session ends with its tenant, {@link Erasures} erases all pages except
   * public ones.
   */
  public void ended(SessionContext session, SessionEnding ending) throws Exception {
    index.removed(session);
    SessionSlot slot = session.slot();
    if (ending == SessionEnding.ERASED) {
      if (slot.opened()) {
        List<Text> texts = hasPages(session) ? texts(session) : List.of();
        erasures.eraseSession(names(slot, texts, List.of()), pages(texts));
      }
    } else if (hasPages(session)
        && (ending != SessionEnding.TENANT_ERASED
            || namespaces.namespace(slot).equals(NamespaceKey.PUBLIC))) {
      boolean everywhere =
          ending == SessionEnding.TENANT_ERASED || slot.wasElsewhere(engine.instance());
      erase(session, texts(session), List.of(), everywhere);
    }
  }

  /** Returns the token ids of all branches. */
  private List<Text> texts(SessionContext session) throws Exception {
    String tokenizer = engine.model().tokenizer().fingerprint();
    List<Text> texts = new ArrayList<>();
    for (Conversation conversation : session.conversations()) {
      int[] ids = conversation.canonicalIds(tokenizer);
      if (ids != null) {
        texts.add(new Text(ids, conversation.system()));
      }
    }
    return texts;
  }

  /** Erases the pages of a turn that has ended and is not remembered. */
  public void dropped(SessionContext session, TurnResult turn) throws Exception {
    Prompt prompt = turn.prompt();
    if (hasPages(session) && prompt != null) {
      erase(
          session,
          List.of(new Text(text(prompt.ids(), turn.tokens()), turn.plan().conversation().system())),
          texts(session),
          mayHaveRunElsewhere(turn));
    }
  }

  /** Returns whether another engine may have pages of a turn. */
  boolean mayHaveRunElsewhere(TurnResult turn) {
    return turn.pending().accepted() < attempt;
  }

  /**
   * Erases the pages of text that leaves the history of a session when a turn is appended, and of
   * text that the turn computed but the history does not keep.
   *
   * @param append appends the turn
   */
  void replaced(
      SessionContext session, TurnResult turn, Turn remembered, RunnableWithException append)
      throws Exception {
    if (!hasPages(session)) {
      append.run();
      return;
    }
    Prompt prompt = turn.prompt();
    boolean replaces =
        turn.pending().kind() == EventKind.REGENERATE
            || session.slot().raw()
            || prompt.dropped() > turn.plan().conversation().dropped();
    List<Text> gone = new ArrayList<>(replaces ? texts(session) : List.of());
    append.run();
    int[] computed = text(prompt.ids(), turn.tokens());
    int[] kept = text(Arrays.copyOf(prompt.ids(), prompt.keep()), remembered.ids());
    if (Arrays.mismatch(computed, kept) >= 0 && !isBeginning(computed, kept)) {
      gone.add(new Text(computed, turn.plan().conversation().system()));
    }
    if (!gone.isEmpty()) {
      erase(session, gone, texts(session), replaces || mayHaveRunElsewhere(turn));
    }
  }

  /**
   * Erases the pages of text that leaves the history of a session in a change of its branches.
   *
   * @param change removes branches or turns
   */
  public void removed(SessionContext session, RunnableWithException change) throws Exception {
    List<Text> before = hasPages(session) ? texts(session) : List.of();
    change.run();
    if (!before.isEmpty()) {
      boolean everywhere = session.slot().wasElsewhere(engine.instance());
      erase(session, before, texts(session), everywhere);
    }
  }

  private static boolean isBeginning(int[] computed, int[] kept) {
    return Arrays.mismatch(computed, kept) == computed.length;
  }

  private static int[] text(int[] first, int[] second) {
    int[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  private void erase(
      SessionContext session, List<Text> texts, List<Text> kept, boolean everywhere) {
    int pages = pages(texts);
    if (pages > 0) {
      erasures.erasePages(names(session.slot(), texts, kept), pages, everywhere);
    }
  }

  /** Returns the maximum number of pages of texts. */
  private int pages(List<Text> texts) {
    long tokens = texts.stream().mapToLong(text -> text.ids.length).sum();
    return (int) Math.min(tokens / engine.engine().info().pageTokens(), Integer.MAX_VALUE);
  }

  /** Returns a supplier of {@link #names(String, boolean, List, List, int)}. */
  private Supplier<byte[]> names(SessionSlot slot, List<Text> texts, List<Text> kept) {
    String namespace = namespaces.namespace(slot);
    boolean shared = namespaces.sharesSystemPrompt(slot);
    int pageTokens = engine.engine().info().pageTokens();
    return () -> names(namespace, shared, texts, kept, pageTokens);
  }

  /**
   * Returns the names of the pages of texts, except public pages. Any thread.
   *
   * @param shared whether system prompts have public pages
   * @param kept texts whose pages stay
   * @return digests, concatenated, parents first
   */
  private byte[] names(
      String namespace, boolean shared, List<Text> texts, List<Text> kept, int pageTokens) {
    ChatTemplate template = engine.model().chatTemplate();
    PageNames names = new PageNames(namespace, pageTokens);
    for (Text text : texts) {
      int[] ids = text.ids;
      int open =
          shared && text.system != null
              ? SharedSystemPrompt.commonTokens(template, text.system, ids)
              : 0;
      int first = 0;
      for (Text other : kept) {
        int differs = Arrays.mismatch(ids, other.ids);
        first = Math.max(first, (differs < 0 ? ids.length : differs) / pageTokens);
      }
      names.add(ids, open, first);
    }
    return names.toBytes();
  }
}
