package io.radixflow.engine.loop;

import io.radixflow.engine.EngineInfo;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.PromptException;
import io.radixflow.engine.request.PromptScores;
import io.radixflow.engine.request.ReplyGuide;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.RequestReply;
import io.radixflow.engine.request.RequestTokens;
import io.radixflow.engine.request.TokenRules;
import io.radixflow.engine.schedule.CrashJournal;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.protocol.fair.FairExecutor;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.ReplyText;
import io.radixflow.text.reply.ReasoningTracker;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes prompts and checks requests on its own threads, so that neither callers nor the engine
 * thread run templates or tokenizers. Tenants share the time of the threads. The engine limits the
 * number of requests in intake.
 */
final class Intake {
  private static final Logger LOG = LoggerFactory.getLogger(Intake.class);
  private static final int[] NONE = {};

  private final Tokenizer tokenizer;
  private final int vocabSize;
  private final int contextLength;
  private final Grammars grammars;
  private final CrashJournal journal;

  /** Free journal entries of intake threads. */
  private final BlockingQueue<Integer> entries = new LinkedBlockingQueue<>();

  private final Consumer<Request> named;
  private final Consumer<Request> ready;
  private final ThreadPoolExecutor threads;
  private final FairExecutor tenants;

  /**
   * @param grammars compiles the grammars that constrain replies
   * @param journal records requests whose prompts are being made, in the entries after the running
   *     requests
   * @param named gets each request with a valid prompt, on an intake thread
   * @param ready receives each request, with its prompt or its refusal, on an intake thread
   */
  Intake(
      Tokenizer tokenizer,
      EngineInfo info,
      EngineOptions options,
      Grammars grammars,
      CrashJournal journal,
      Consumer<Request> named,
      Consumer<Request> ready) {
    int count = options.intakeThreads();
    for (int i = 0; i < count; i++) {
      entries.add(options.maxRunning() + i);
    }
    this.tokenizer = tokenizer;
    this.vocabSize = info.model().vocabSize();
    this.contextLength = info.contextLength();
    this.grammars = grammars;
    this.journal = journal;
    this.named = named;
    this.ready = ready;
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            count,
            count,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "radixflow-intake-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    threads.allowCoreThreadTimeOut(true);
    tenants = new FairExecutor(threads, options.scheduler().tenantWeights());
  }

  void submit(Request request) {
    execute(tenantOf(request), () -> prepareRecorded(request));
  }

  /** Runs a task on an intake thread, after earlier tasks of its tenant. */
  void execute(String tenant, Runnable task) {
    tenants.execute(tenant, task);
  }

  private static String tenantOf(Request request) {
    return request.spec.service().tenant();
  }

  /**
   * Makes the prompt of an announced turn.
   *
   * @param made gets whether there is a prompt, on an intake thread
   */
  void foresee(Request expected, Consumer<Boolean> made) {
    execute(
        tenantOf(expected),
        () -> {
          boolean right = false;
          try {
            check(expected, expected.spec.prompt().ids());
            right = true;
          } catch (PromptException | RuntimeException e) { // the turn itself will report the error
            LOG.debug("Request {} is not prefetched: {}", expected.spec.label(), e.toString());
          } finally {
            made.accept(right);
          }
        });
  }

  private void prepareRecorded(Request request) {
    int entry = entries.remove();
    journal.begin(entry, request.standing.journalName(), request.standing.isSuspect());
    try {
      prepare(request);
    } finally {
      journal.end(entry);
      entries.add(entry);
    }
  }

  private void prepare(Request request) {
    try {
      if (request.cancelled() == null) {
        check(request, request.spec.prompt().ids());
      }
    } catch (PromptException e) {
      request.refuse(FinishReason.REJECTED, e.error());
    } catch (ChatTemplateException | GrammarException | IllegalArgumentException e) {
      request.refuse(FinishReason.REJECTED, ReplyError.invalid(e.getMessage()));
    } catch (RuntimeException | Error e) { // the request must end in any case
      request.refuse(FinishReason.ERROR, ReplyError.failed("the prompt could not be made: " + e));
    }
    ready.accept(request);
  }

  private void check(Request request, int[] prompt) throws PromptException {
    EngineRequest spec = request.spec;
    int[] resumed = spec.resumed() == null ? NONE : spec.resumed();
    if (prompt.length == 0) {
      throw new IllegalArgumentException("the prompt is empty");
    }
    if (spec.maxTokens() < 0) {
      throw new IllegalArgumentException(
          "max_tokens is " + spec.maxTokens() + "; it must be at least 0");
    }
    if (prompt.length >= contextLength) {
      throw PromptException.tooLong(
          "the prompt has "
              + prompt.length
              + " tokens, which leaves no room for a reply in the context of "
              + contextLength,
          prompt.length,
          contextLength);
    }
    checkIds(prompt);
    checkIds(resumed);
    int maxTokens = Math.min(Math.max(1, spec.maxTokens()), contextLength - prompt.length);
    TokenOptions options = spec.tokens();
    SamplingState sampling = new SamplingState(spec.sampling(), prompt, resumed, vocabSize);
    int[] ends = ends(spec);
    PromptScores scores =
        options.promptLogprobs() == null
            ? null
            : new PromptScores(options.promptLogprobs(), prompt.length, vocabSize);
    ReplyText text =
        new ReplyText(
            tokenizer, spec.stop(), markup(spec), options.includesStop(), options.fewestTokens());
    if (spec.begun()) {
      text.begun();
    }
    request.reply.begin(sampling, text, ends, scores, spec.maxTokens() == 0);
    request.tokens.begin(prompt, spec.prompt().publicTokens(), resumed, maxTokens);
    FinishReason end = resume(request);
    request.reply.endResumed(end);
    if (end == null) {
      ReplyGuide guide = guide(request, prompt);
      request.reply.guide(guide);
      request.ring.warn(guide == null ? List.of() : guide.notices());
    }
    named.accept(request);
    request.readyPrompt();
  }

  private void checkIds(int[] ids) {
    for (int id : ids) {
      if (id < 0 || id >= vocabSize) {
        throw new IllegalArgumentException(
            "token id " + id + " is not in the vocabulary of " + vocabSize);
      }
    }
  }

  /**
   * Feeds the ids of an earlier attempt to the reply's text.
   *
   * @return why the reply ended in that attempt; null if it did not
   */
  private static FinishReason resume(Request request) {
    RequestTokens tokens = request.tokens;
    RequestReply reply = request.reply;
    FinishReason end = null;
    for (int i = tokens.promptLength(); i < tokens.length(); i++) {
      if (reply.acceptText(tokens.id(i)) || reply.endsWith(tokens.id(i))) {
        tokens.cut(i + 1);
        end = FinishReason.STOP;
      }
    }
    if (end == null && tokens.length() == tokens.maxLength()) {
      end = FinishReason.LENGTH;
    }
    reply.text().take();
    request.ring.startAt(tokens.promptLength(), tokens.replyLength(), reply.text().taken());
    return end;
  }

  /**
   * Returns the guide of a reply with a grammar, a budget or token rules, positioned after the ids
   * of an earlier attempt; else null.
   */
  private ReplyGuide guide(Request request, int[] prompt) {
    EngineRequest spec = request.spec;
    GrammarSpec grammar = spec.grammar() == null ? null : spec.grammar().of(prompt);
    ReasoningTracker reasoning = spec.reasoning() == null ? null : spec.reasoning().of(prompt);
    TokenRules rules =
        TokenRules.of(
            spec.tokens(), request.reply.ends(), tokenizer, vocabSize, grammars.vocabSize());
    if (grammar == null && reasoning == null && rules == null) {
      return null;
    }
    String tenant = tenantOf(request);
    ReplyGuide guide;
    try {
      guide = grammars.guide(tenant, grammar, reasoning, rules, !spec.markup().isEmpty());
    } catch (GrammarException e) {
      throw grammar == null ? e : e.of(spec.grammar().option());
    } finally {
      if (grammar != null && request.cancelled() != null) {
        grammars.drop(
            tenant, grammar); // the session may have been erased while the grammar was compiled
      }
    }
    for (int i = request.tokens.promptLength(); i < request.tokens.length(); i++) {
      guide.accept(request.tokens.id(i));
    }
    if (guide.isSlow()) {
      grammars.prepare(guide);
    } else {
      guide.prepare();
    }
    guide.setReady(true);
    return guide;
  }

  /** Returns the tokens that end a reply. */
  private int[] ends(EngineRequest spec) {
    int[] own = spec.ignoreEndOfTurn() ? NONE : tokenizer.endOfTurnIds();
    int[] stops = spec.tokens().stopIds();
    for (int id : stops) {
      TokenRules.requireKnown("stop_token_ids", id, vocabSize);
    }
    return stops.length == 0
        ? own
        : IntStream.concat(Arrays.stream(own), Arrays.stream(stops)).distinct().toArray();
  }

  /** Returns the special tokens that the reply's text contains, with their texts. */
  private Map<Integer, String> markup(EngineRequest spec) {
    if (!Boolean.FALSE.equals(spec.tokens().skipSpecialTokens())) {
      return spec.markup();
    }
    Map<Integer, String> all = new HashMap<>(tokenizer.specials());
    if (!spec.ignoreEndOfTurn() && !spec.tokens().includesStop()) {
      for (int end : tokenizer.endOfTurnIds()) {
        all.remove(end);
      }
    }
    all.putAll(spec.markup());
    return all;
  }

  void close() {
    threads.shutdownNow();
  }

  boolean awaitTermination(long seconds) throws InterruptedException {
    return threads.awaitTermination(seconds, TimeUnit.SECONDS);
  }
}
