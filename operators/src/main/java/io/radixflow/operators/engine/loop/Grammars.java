package io.radixflow.operators.engine.loop;

import io.radixflow.kernels.grammar.Grammar;
import io.radixflow.kernels.grammar.GrammarSpec;
import io.radixflow.kernels.grammar.GrammarWarmUp;
import io.radixflow.kernels.grammar.TokenTrie;
import io.radixflow.kernels.text.message.ReasoningTracker;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import io.radixflow.operators.engine.GrammarStats;
import io.radixflow.operators.engine.request.ReplyGuide;
import io.radixflow.operators.engine.request.Request;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * The grammars that replies of an engine are held to. Intake threads compile them; masks are made
 * on threads of their own, while steps run. The compiled grammars that were used last are kept,
 * with their masks. Any thread.
 */
final class Grammars {
  private static final int THREADS = 2;

  /** Grammars that are kept, and the bytes of memory that they may take together. */
  private static final int KEPT = 32;

  private static final long KEPT_BYTES = 64L << 20;

  /** How long a grammar is kept that no reply uses. */
  static final long IDLE_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final Tokenizer tokenizer;
  private final int vocabSize;
  private final long keptBytes;
  private final Consumer<Runnable> onEngineThread;
  private final ScheduledThreadPoolExecutor threads;
  private final LinkedHashMap<GrammarSpec, Kept> kept = new LinkedHashMap<>(16, 0.75f, true);
  private TokenTrie plain;
  private TokenTrie withMarkup;

  private final LongAdder compiled = new LongAdder();
  private final LongAdder compileNanos = new LongAdder();
  private final LongAdder reused = new LongAdder();
  private final LongAdder masks = new LongAdder();
  private final LongAdder maskNanos = new LongAdder();

  /** A compiled grammar. */
  private static final class Kept {
    final Grammar grammar;
    long lastUse = System.nanoTime();

    Kept(Grammar grammar) {
      this.grammar = grammar;
    }
  }

  /**
   * @param vocabSize the model's
   */
  Grammars(Tokenizer tokenizer, int vocabSize, Consumer<Runnable> onEngineThread) {
    this(tokenizer, vocabSize, KEPT_BYTES, onEngineThread);
  }

  Grammars(Tokenizer tokenizer, int vocabSize, long keptBytes, Consumer<Runnable> onEngineThread) {
    this.keptBytes = keptBytes;
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
  }

  /** Makes what the first grammar of a reply needs, on a thread of its own. */
  Future<?> warmUp() {
    return threads.submit(
        () -> {
          trie(false);
          trie(true);
          GrammarWarmUp.run();
        });
  }

  /**
   * Returns what holds a reply to a grammar or a budget, at the reply's start; compiles the grammar
   * if need be.
   *
   * @param spec the grammar; null for none
   * @param reasoning as for {@link ReplyGuide}
   * @param markup whether the reply's text has special tokens as their text
   * @throws io.radixflow.kernels.grammar.regex.GrammarException if the grammar is refused
   */
  ReplyGuide guide(GrammarSpec spec, ReasoningTracker reasoning, boolean markup) {
    if (spec == null) {
      return new ReplyGuide(null, reasoning, tokenizer, vocabSize);
    }
    Grammar grammar = kept(spec);
    if (grammar == null) {
      long began = System.nanoTime();
      grammar = Grammar.of(spec);
      compileNanos.add(System.nanoTime() - began);
      compiled.increment();
      grammar = keep(spec, grammar);
    } else {
      reused.increment();
    }
    return new ReplyGuide(grammar.matcher(trie(markup)), reasoning, tokenizer, vocabSize);
  }

  private Grammar kept(GrammarSpec spec) {
    synchronized (kept) {
      Kept known = kept.get(spec);
      if (known == null) {
        return null;
      }
      known.lastUse = System.nanoTime();
      shrink();
      return known.grammar;
    }
  }

  /** Keeps a grammar, or returns the one that another thread has compiled meanwhile. */
  private Grammar keep(GrammarSpec spec, Grammar grammar) {
    synchronized (kept) {
      if (kept.isEmpty()) {
        threads.schedule(this::expireIdle, IDLE_NANOS, TimeUnit.NANOSECONDS);
      }
      Kept other = kept.putIfAbsent(spec, new Kept(grammar));
      shrink();
      return other == null ? grammar : other.grammar;
    }
  }

  /** Drops the grammars that were used longest ago while all take too much; keeps the last. */
  private void shrink() {
    long bytes = 0;
    for (Kept each : kept.values()) {
      bytes += each.grammar.bytes();
    }
    Iterator<Kept> eldest = kept.values().iterator();
    while (kept.size() > 1 && (kept.size() > KEPT || bytes > keptBytes)) {
      bytes -= eldest.next().grammar.bytes();
      eldest.remove();
    }
  }

  private void expireIdle() {
    synchronized (kept) {
      expire(System.nanoTime());
      if (!kept.isEmpty()) {
        threads.schedule(this::expireIdle, IDLE_NANOS, TimeUnit.NANOSECONDS);
      }
    }
  }

  /** Drops the grammars that were not used for a while. */
  void expire(long now) {
    synchronized (kept) {
      kept.values().removeIf(each -> now - each.lastUse >= IDLE_NANOS);
    }
  }

  /** Drops a grammar; replies that run go on with theirs. */
  void drop(GrammarSpec spec) {
    synchronized (kept) {
      kept.remove(spec);
    }
  }

  /** Drops all grammars, as sessions or tenants are erased; replies that run go on with theirs. */
  void erase() {
    synchronized (kept) {
      kept.clear();
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
   * Has a request's guide take its last tokens, make the mask of the next, and make drafts of those
   * that its drafter proposes, on another thread.
   *
   * @param tokens how many are new to the guide
   * @param drafts to make at most
   * @param done gets what went wrong, or null, on the engine thread
   */
  void advance(Request request, int tokens, int drafts, Consumer<Throwable> done) {
    ReplyGuide guide = request.guide;
    int[] ids = request.tokens;
    int end = request.length;
    threads.execute(
        () -> {
          Throwable failure = null;
          try {
            for (int i = end - tokens; i < end; i++) {
              guide.accept(ids[i]);
            }
            prepare(guide);
            if (drafts > 0) {
              guide.prepareDrafts(request.drafter, drafts);
            }
          } catch (RuntimeException | Error e) { // the request must go on, or end
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
