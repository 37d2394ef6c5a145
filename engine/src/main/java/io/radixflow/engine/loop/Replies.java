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

  /** Appends a sampled token to its reply, and ends the reply if the token did. */
  void accept(Request request, StepTicket ticket, int output) {
    int token = ticket.token(output);
    request.pending--;
    if (request.scores != null) {
      request.ring.scored(request.scores.entries(request.tokens));
      request.scores = null; // from here on its prompt may be cached
    }
    if (request.promptOnly) {
      end(request, FinishReason.LENGTH, null);
      return;
    }
    request.append(token);
    if (request.drafter != null) {
      request.drafter.append(token);
    }
    generatedTokens++;
    boolean stopped = request.acceptText(token);
    request.ring.put(token, newText(request), logprob(request, token, ticket, output));
    if (stopped || request.ends(token)) {
      end(request, FinishReason.STOP, null);
    } else if (request.length == request.maxLength) {
      end(request, FinishReason.LENGTH, null);
    } else {
      publish(request);
    }
  }

  /**
   * Has the mask of the next token made, and masks behind drafts, where the reply has a guide; a
   * reply whose grammar cannot go on ends alone.
   *
   * @param tokens how many were accepted since the last time
   */
  void follow(Request request, int tokens) {
    if (request.guide == null || request.state == Request.State.ENDED) {
      return;
    }
    if (!request.guide.isSlow()) {
      followFast(request, tokens);
      return;
    }
    request.guide.setReady(false);
    grammars.advance(
        request,
        tokens,
        propose(request),
        failure -> {
          request.guide.setReady(true);
          if (failure != null && request.state != Request.State.ENDED) {
            fail(request, failure);
          }
        });
  }

  private void followFast(Request request, int tokens) {
    try {
      for (int i = request.length - tokens; i < request.length; i++) {
        request.guide.accept(request.tokens[i]);
      }
      request.guide.prepare();
    } catch (GrammarException e) {
      fail(request, e);
    }
  }

  private void fail(Request request, Throwable failure) {
    LOG.warn("Request {} ends: nothing may come next", request.spec.label(), failure);
    String message = "the reply cannot follow its grammar any further: " + failure;
    end(request, FinishReason.ERROR, ReplyError.failed(message));
  }

  /** Makes the drafts of which a grammar allows some; returns how many there may be. */
  private int propose(Request request) {
    if (request.drafter == null) {
      return 0;
    }
    int most = Math.min(scheduler.drafts().mostUseful(), request.maxLength - request.length - 1);
    request.drafter.propose(Math.max(0, most));
    return most;
  }

  private static String newText(Request request) {
    return request.text.hasNew() ? request.text.take() : "";
  }

  /** Returns text that was held back for a stop string; a reply that is cut short drops it. */
  private static String heldText(Request request) {
    request.text.finish();
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
   * Ends a request in any state. Its pages are cached at once; they are given back when no step in
   * flight uses them.
   *
   * @param error why it is rejected or failed, or null
   */
  void end(Request request, FinishReason reason, ReplyError error) {
    if (request.state == Request.State.ENDED) {
      return;
    }
    boolean complete = reason == FinishReason.STOP || reason == FinishReason.LENGTH;
    String held = complete ? heldText(request) : "";
    if (request.drafter != null && request.drafter.predictionTokens() > 0) {
      request.ring.foretold(request.drafter.foretold(), request.drafter.predictionTokens());
    }
    boolean stopped = reason == FinishReason.STOP;
    String stop = stopped ? request.text.stop() : null;
    request.ring.end(reason, held, stop, stopped ? request.stopToken() : null, error);
    publish(request);
    scheduler.remove(request);
    request.state = Request.State.ENDED;
    request.complete = complete;
    if (complete && request.drafter != null) {
      remember(request);
    }
    quarantine.ended(request);
    if (request.row < 0) {
      slots.leave(request.slot);
    } else {
      request.failed = reason == FinishReason.ERROR;
      commitUnlessFailed(request);
      releaseIfUnused(request);
    }
  }

  /**
   * Keeps a turn for drafts of others: the prompt from where its session was known to this engine,
   * so all of it where a restored session is seen first; of a prompt without a session its end. A
   * turn whose pages no other may find gives no other drafts.
   */
  private void remember(Request request) {
    boolean stored = !request.spec.hints().noStore();
    if (stored && (request.slot == null || !request.slot.isClosed())) {
      int from = request.slot == null ? request.promptLength : request.known.tokens();
      scheduler
          .drafts()
          .remember(
              request.spec.namespace(), request.tokens, from, request.promptLength, request.length);
    }
  }

  /** Cancels all requests of a channel. */
  void cancelAll(EngineChannel channel) {
    channel.requests().values().forEach(each -> end(each, FinishReason.CANCELLED, null));
  }

  /** Gives the pages of an ended request back once no step uses them. */
  void releaseIfUnused(Request request) {
    if (request.state == Request.State.ENDED && request.stepsInFlight == 0 && request.row >= 0) {
      commitUnlessFailed(request);
      quarantine.journal().end(request.row);
      SessionPosition end = pages.release(request);
      slots.leave(request.slot);
      if (end != null) {
        afterTurn.accept(request, end);
      }
    }
  }

  private void commitUnlessFailed(Request request) {
    if (!request.failed) {
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
