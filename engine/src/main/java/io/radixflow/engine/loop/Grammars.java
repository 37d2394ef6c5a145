package io.radixflow.engine.loop;

import io.radixflow.engine.GrammarStats;
import io.radixflow.engine.request.ReplyGuide;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.request.TokenRules;
import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarWarmUp;
import io.radixflow.grammar.TokenTrie;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.models.Sha256;
import io.radixflow.protocol.fair.FairCache;
import io.radixflow.protocol.fair.FairExecutor;
import io.radixflow.text.reply.ReasoningTracker;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * The grammars that constrain replies of an engine. Intake threads compile them; other threads make
 * masks while steps run. The most recently used compiled grammars are kept with their masks, and
 * refusals are also kept, separately for each tenant. Thread-safe.
 */
final class Grammars {
  static final int THREADS = 2;

  /** The most grammars that are kept, and the most bytes that they take together. */
  private static final int KEPT = 32;

  private static final long KEPT_BYTES = 64L << 20;

  /** The most refusals that are remembered. */
  private static final int REFUSALS = 1024;

  /** How long an unused grammar is kept. */
  static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Tokenizer tokenizer;
  private final int vocabSize;
  private final Consumer<Runnable> onEngineThread;
  private final ScheduledThreadPoolExecutor threads;
  private final FairExecutor tenants;
  private final FairCache<GrammarSpec, Kept> kept;

  /**
   * The reasons of refusals, by the hash of the grammar's source; guarded like the compiled
   * grammars.
   */
  private final FairCache<String, GrammarException> refused =
      new FairCache<>(REFUSALS, REFUSALS, refusal -> 1);

  private boolean expiring;
  private TokenTrie plain;
  private TokenTrie withMarkup;

  private final LongAdder compiled = new LongAdder();
  private final LongAdder compileNanos = new LongAdder();
  private final LongAdder reused = new LongAdder();
  private final LongAdder masks = new LongAdder();
  private final LongAdder maskNanos = new LongAdder();

  private static final class Kept {
    final Grammar grammar;
    long lastUse = System.nanoTime();

    Kept(Grammar grammar) {
      this.grammar = grammar;
    }
  }

  /**
   * @param vocabSize the model's vocabulary size
   * @param weights weights of tenants, which share the threads
   */
  Grammars(
      Tokenizer tokenizer,
      int vocabSize,
      Map<String, Integer> weights,
      Consumer<Runnable> onEngineThread) {
    this(tokenizer, vocabSize, weights, KEPT_BYTES, onEngineThread);
  }

  Grammars(
      Tokenizer tokenizer,
      int vocabSize,
      Map<String, Integer> weights,
      long keptBytes,
      Consumer<Runnable> onEngineThread) {
    this.kept = new FairCache<>(KEPT, keptBytes, each -> each.grammar.bytes());
    this.tokenizer = tokenizer;
    this.vocabSize = Math.max(vocabSize, tokenizer.vocabSize());
    this.onEngineThread = onEngineThread;
    AtomicInteger number = new AtomicInteger();
    threads =
        new ScheduledThreadPoolExecutor(
            THREADS,
            task -> {
              Thread thread = new Thread(task, "radixflow-grammar-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    threads.setKeepAliveTime(10, TimeUnit.SECONDS);
    threads.allowCoreThreadTimeOut(true);
    tenants = new FairExecutor(threads, weights);
  }

  /** Returns the number of ids in a mask: the model's ids, or the tokenizer's if it has more. */
  int vocabSize() {
    return vocabSize;
  }

  /** Prepares, on a thread of its own, the data that the first grammar needs. */
  Future<?> warmUp() {
    return threads.submit(
        () -> {
          trie(false);
          trie(true);
          GrammarWarmUp.run();
        });
  }

  /**
   * Returns a guide, which constrains a reply to a grammar or a budget, at the reply's start.
   * Compiles the grammar unless the tenant has used it lately.
   *
   * @param spec the grammar; null for none
   * @param reasoning as for {@link ReplyGuide}
   * @param rules as for {@link ReplyGuide}
   * @param markup whether the reply's text contains the texts of special tokens
   * @throws GrammarException if the grammar is refused, which is remembered
   */
  ReplyGuide guide(
      String tenant,
      GrammarSpec spec,
      ReasoningTracker reasoning,
      TokenRules rules,
      boolean markup) {
    if (spec == null) {
      return new ReplyGuide(null, reasoning, rules, tokenizer, vocabSize);
    }
    Grammar grammar = kept(tenant, spec);
    if (grammar == null) {
      grammar = compile(tenant, spec);
    } else {
      reused.increment();
    }
    return new ReplyGuide(grammar.matcher(trie(markup)), reasoning, rules, tokenizer, vocabSize);
  }

  private Grammar compile(String tenant, GrammarSpec spec) {
    String name = nameOf(spec);
    synchronized (kept) {
      GrammarException known = refused.get(tenant, name);
      if (known != null) {
        throw known;
      }
    }
    long began = System.nanoTime();
    try {
      return keep(tenant, spec, Grammar.of(spec));
    } catch (GrammarException e) {
      synchronized (kept) {
        refused.putIfAbsent(tenant, name, e);
        expireLater();
      }
      throw e;
    } finally {
      compileNanos.add(System.nanoTime() - began);
      compiled.increment();
    }
  }

  private static String nameOf(GrammarSpec spec) {
    return Sha256.digits(spec.kind() + "\0" + spec.before() + "\0" + spec.text());
  }

  private Grammar kept(String tenant, GrammarSpec spec) {
    synchronized (kept) {
      Kept known = kept.get(tenant, spec);
      if (known == null) {
        return null;
      }
      known.lastUse = System.nanoTime();
      kept.shrink();
      return known.grammar;
    }
  }

  /** Keeps a grammar, or returns the one that another thread has compiled meanwhile. */
  private Grammar keep(String tenant, GrammarSpec spec, Grammar grammar) {
    synchronized (kept) {
      expireLater();
      return kept.putIfAbsent(tenant, spec, new Kept(grammar)).grammar;
    }
  }

  private void expireLater() {
    if (!expiring) {
      expiring = true;
      threads.schedule(this::expireIdle, IDLE_NANOS, TimeUnit.NANOSECONDS);
    }
  }

  private void expireIdle() {
    synchronized (kept) {
      expire(System.nanoTime());
      expiring = false;
      if (kept.size() > 0) {
        expireLater();
      }
    }
  }

  /** Drops grammars that were not used for a while, and all refusals. */
  void expire(long now) {
    synchronized (kept) {
      kept.removeIf(each -> now - each.lastUse >= IDLE_NANOS);
      refused.clear();
    }
  }

  /** Drops a grammar of a tenant, or its refusal. Running replies keep their grammars. */
  void drop(String tenant, GrammarSpec spec) {
    synchronized (kept) {
      kept.remove(tenant, spec);
      refused.remove(tenant, nameOf(spec));
    }
  }

  /**
   * Drops all grammars, because sessions or tenants are erased. Running replies keep their
   * grammars.
   */
  void erase() {
    synchronized (kept) {
      kept.clear();
      refused.clear();
    }
  }

  /** Returns how many grammars are kept. */
  int size() {
    synchronized (kept) {
      return kept.size();
    }
  }

  private synchronized TokenTrie trie(boolean markup) {
    if (!markup || tokenizer.markup().isEmpty()) {
      plain = plain == null ? TokenTrie.of(tokenizer) : plain;
      return plain;
    }
    withMarkup = withMarkup == null ? TokenTrie.of(tokenizer, tokenizer.markup()) : withMarkup;
    return withMarkup;
  }

  /** Makes the mask of a reply's next token. */
  void prepare(ReplyGuide guide) {
    long began = System.nanoTime();
    guide.prepare();
    maskNanos.add(System.nanoTime() - began);
    masks.increment();
  }

  /**
   * Passes a request's last tokens to its guide, on another thread. The guide makes the mask of the
   * next token, and drafts from the drafter's proposals.
   *
   * @param tokens how many tokens are new to the guide
   * @param drafts the most drafts to make
   * @param done gets the failure, or null, on the engine thread
   */
  void advance(Request request, int tokens, int drafts, Consumer<Throwable> done) {
    ReplyGuide guide = request.reply.guide();
    int[] ids = request.tokens.ids();
    int end = request.tokens.length();
    tenants.execute(
        request.spec.service().tenant(),
        () -> {
          Throwable failure = null;
          try {
            for (int i = end - tokens; i < end; i++) {
              guide.accept(ids[i]);
            }
            prepare(guide);
            if (drafts > 0) {
              guide.prepareDrafts(request.reply.drafter(), drafts);
            }
          } catch (RuntimeException | Error e) { // the request must continue or end
            failure = e;
          }
          Throwable result = failure;
          onEngineThread.accept(() -> done.accept(result));
        });
  }

  GrammarStats stats() {
    return new GrammarStats(
        compiled.sum(), compileNanos.sum(), reused.sum(), masks.sum(), maskNanos.sum());
  }

  void close() {
    threads.shutdownNow();
  }

  boolean awaitTermination(long seconds) throws InterruptedException {
    return threads.awaitTermination(seconds, TimeUnit.SECONDS);
  }
}
