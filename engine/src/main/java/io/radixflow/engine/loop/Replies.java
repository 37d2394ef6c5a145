package io.radixflow.engine.loop;

import io.radixflow.engine.GrammarStats;
import io.radixflow.engine.ReplyProgress.TokenLogprob;
import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.request.CachedSessions;
import io.radixflow.engine.request.EngineChannel;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.schedule.Quarantine;
import io.radixflow.engine.schedule.Scheduler;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns sampled tokens into progress, and ends requests. Engine thread only. */
final class Replies {
  private static final Logger LOG = LoggerFactory.getLogger(Replies.class);

  private final KvPages pages;
  private final Scheduler scheduler;
  private final CachedSessions slots;
  private final BiConsumer<Request, SessionPosition> afterTurn;
  private final Quarantine quarantine;
  private final Grammars grammars;
  private final List<EngineChannel> toSignal = new ArrayList<>();
  private long generatedTokens;

  /**
   * @param quarantine is notified of each request that ends
   */
  Replies(
      KvPages pages,
      Scheduler scheduler,
      CachedSessions slots,
      BiConsumer<Request, SessionPosition> afterTurn,
      Grammars grammars,
      Quarantine quarantine) {
    this.grammars = grammars;
    this.quarantine = quarantine;
    this.pages = pages;
    this.slots = slots;
    this.afterTurn = afterTurn;
    this.scheduler = scheduler;
  }

  GrammarStats grammarStats() {
    return grammars.stats();
  }

  long generatedTokens() {
    return generatedTokens;
  }

  /** Appends a sampled token to its reply, and ends the reply if the token ends it. */
  void accept(Request request, StepTicket ticket, int output) {
    int token = ticket.token(output);
    request.steps.answer();
    if (request.reply.scores() != null) {
      request.ring.scored(request.reply.scores().entries(request.tokens.ids()));
      request.reply.scored();
    }
    if (request.reply.isPromptOnly()) {
      end(request, FinishReason.LENGTH, null);
      return;
    }
    request.tokens.append(token);
    if (request.reply.drafter() != null) {
      request.reply.drafter().append(token);
    }
    generatedTokens++;
    boolean stopped = request.reply.acceptText(token);
    request.ring.put(token, newText(request), logprob(request, token, ticket, output));
    if (stopped || request.reply.endsWith(token)) {
      end(request, FinishReason.STOP, null);
    } else if (request.tokens.length() == request.tokens.maxLength()) {
      end(request, FinishReason.LENGTH, null);
    } else {
      publish(request);
    }
  }

  /**
   * Has the guide of a reply make the masks of the next token and of drafts. If the grammar cannot
   * continue, only this reply ends.
   *
   * @param tokens number of tokens accepted since the last call
   */
  void follow(Request request, int tokens) {
    if (request.reply.guide() == null || request.standing.hasEnded()) {
      return;
    }
    if (!request.reply.guide().isSlow()) {
      followFast(request, tokens);
      return;
    }
    request.reply.guide().setReady(false);
    grammars.advance(
        request,
        tokens,
        propose(request),
        failure -> {
          request.reply.guide().setReady(true);
          if (failure != null && !request.standing.hasEnded()) {
            fail(request, failure);
          }
        });
  }

  private void followFast(Request request, int tokens) {
    try {
      for (int i = request.tokens.length() - tokens; i < request.tokens.length(); i++) {
        request.reply.guide().accept(request.tokens.id(i));
      }
      request.reply.guide().prepare();
    } catch (GrammarException e) {
      fail(request, e);
    }
  }

  private void fail(Request request, Throwable failure) {
    LOG.warn("Request {} ends: nothing may come next", request.spec.label(), failure);
    String message = "the reply cannot follow its grammar any further: " + failure;
    end(request, FinishReason.ERROR, ReplyError.failed(message));
  }

  /** Proposes drafts, from which the grammar chooses; returns how many there may be. */
  private int propose(Request request) {
    if (request.reply.drafter() == null) {
      return 0;
    }
    int most =
        Math.min(
            scheduler.drafts().mostUseful(),
            request.tokens.maxLength() - request.tokens.length() - 1);
    request.reply.drafter().propose(Math.max(0, most));
    return most;
  }

  private static String newText(Request request) {
    return request.reply.text().hasNew() ? request.reply.text().take() : "";
  }

  /** Returns the text that was held back for a stop string; empty if the reply was cut short. */
  private static String heldText(Request request) {
    request.reply.text().finish();
    return newText(request);
  }

  private static TokenLogprob logprob(Request request, int token, StepTicket ticket, int output) {
    int count = request.spec.sampling().topLogprobs();
    if (count < 0) {
      return null;
    }
    int[] ids = new int[count];
    float[] logprobs = new float[count];
    ticket.topLogprobs(output, ids, logprobs);
    return new TokenLogprob(token, ticket.logprob(output), ids, logprobs);
  }

  /**
   * Ends a request in any state. Its pages are cached immediately; they are released when no step
   * in flight uses them.
   *
   * @param error why the request is rejected or failed, or null
   */
  void end(Request request, FinishReason reason, ReplyError error) {
    if (request.standing.hasEnded()) {
      return;
    }
    boolean complete = reason == FinishReason.STOP || reason == FinishReason.LENGTH;
    String held = complete ? heldText(request) : "";
    if (request.reply.drafter() != null && request.reply.drafter().predictionTokens() > 0) {
      request.ring.foretold(
          request.reply.drafter().foretold(), request.reply.drafter().predictionTokens());
    }
    boolean stopped = reason == FinishReason.STOP;
    String stop = stopped ? request.reply.text().stop() : null;
    request.ring.end(reason, held, stop, stopped ? request.reply.stopToken() : null, error);
    publish(request);
    request.finish(reason);
    scheduler.remove(request);
    if (complete && request.reply.drafter() != null) {
      remember(request);
    }
    quarantine.ended(request);
    if (!request.pages.isHeld()) {
      slots.leave(request.slot);
    } else {
      commitUnlessFailed(request);
      releaseIfUnused(request);
    }
  }

  /**
   * Keeps a turn as a source of drafts for other turns: the part of its prompt that is new to this
   * engine, and the reply. If a turn has no session, only the end of its prompt is kept. A turn
   * whose pages are not shared is not kept.
   */
  private void remember(Request request) {
    boolean stored = !request.spec.hints().noStore();
    if (stored && (request.slot == null || !request.slot.isClosed())) {
      int from =
          request.slot == null ? request.tokens.promptLength() : request.pages.known().tokens();
      scheduler
          .drafts()
          .remember(
              request.spec.namespace(),
              request.tokens.ids(),
              from,
              request.tokens.promptLength(),
              request.tokens.length());
    }
  }

  void cancelAll(EngineChannel channel) {
    channel.requests().values().forEach(each -> end(each, FinishReason.CANCELLED, null));
  }

  /** Releases the pages of an ended request if no step uses them. */
  void releaseIfUnused(Request request) {
    if (request.standing.hasEnded() && request.steps.inFlight() == 0 && request.pages.isHeld()) {
      commitUnlessFailed(request);
      quarantine.journal().end(request.pages.row());
      SessionPosition end = pages.release(request);
      slots.leave(request.slot);
      if (end != null) {
        afterTurn.accept(request, end);
      }
    }
  }

  private void commitUnlessFailed(Request request) {
    if (!request.hasFailed()) {
      pages.commit(request);
    }
  }

  /** Marks a request as having new progress for its channel. */
  void publish(Request request) {
    EngineChannel channel = request.channel;
    channel.publish(request);
    if (!channel.signalPending) {
      channel.signalPending = true;
      toSignal.add(channel);
    }
  }

  /** Runs the callbacks of channels with new progress. */
  void signal() {
    for (int i = 0; i < toSignal.size(); i++) {
      EngineChannel channel = toSignal.get(i);
      channel.signalPending = false;
      channel.signal();
    }
    toSignal.clear();
  }
}
