package io.radixflow.operators.engine.loop;

import io.radixflow.kernels.grammar.Grammar;
import io.radixflow.kernels.grammar.GrammarSpec;
import io.radixflow.kernels.grammar.TokenTrie;
import io.radixflow.kernels.text.message.ReasoningTracker;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import io.radixflow.operators.engine.GrammarStats;
import io.radixflow.operators.engine.request.ReplyGuide;
import java.util.LinkedHashMap;
import java.util.concurrent.LinkedBlockingQueue;
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

  /** Grammars that are kept, and characters of their sources. */
  private static final int KEPT = 32;

  private static final int KEPT_CHARACTERS = 1 << 20;

  private final Tokenizer tokenizer;
  private final int vocabSize;
  private final Consumer<Runnable> onEngineThread;
  private final ThreadPoolExecutor threads;
  private final LinkedHashMap<GrammarSpec, Grammar> kept = new LinkedHashMap<>(16, 0.75f, true);
  private int keptCharacters;
  private TokenTrie plain;
  private TokenTrie withMarkup;

  private final LongAdder compiled = new LongAdder();
  private final LongAdder compileNanos = new LongAdder();
  private final LongAdder reused = new LongAdder();
  private final LongAdder masks = new LongAdder();
  private final LongAdder maskNanos = new LongAdder();

  /**
   * @param vocabSize the model's
   */
  Grammars(Tokenizer tokenizer, int vocabSize, Consumer<Runnable> onEngineThread) {
    this.tokenizer = tokenizer;
    this.vocabSize = Math.max(vocabSize, tokenizer.vocabSize());
    this.onEngineThread = onEngineThread;
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "radixflow-grammar-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    threads.allowCoreThreadTimeOut(true);
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
      return new ReplyGuide(null, reasoning, vocabSize);
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
    return new ReplyGuide(grammar.matcher(trie(markup)), reasoning, vocabSize);
  }

  private Grammar kept(GrammarSpec spec) {
    synchronized (kept) {
      return kept.get(spec);
    }
  }

  /** Keeps a grammar, or returns the one that another thread has compiled meanwhile. */
  private Grammar keep(GrammarSpec spec, Grammar grammar) {
    synchronized (kept) {
      Grammar other = kept.putIfAbsent(spec, grammar);
      if (other != null) {
        return other;
      }
      keptCharacters += characters(spec);
      while (kept.size() > KEPT || keptCharacters > KEPT_CHARACTERS) {
        GrammarSpec eldest = kept.keySet().iterator().next();
        kept.remove(eldest);
        keptCharacters -= characters(eldest);
      }
      return grammar;
    }
  }

  private static int characters(GrammarSpec spec) {
    return spec.text().length() + spec.before().length();
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
   * Has a guide take a token and make the mask of the next, on another thread.
   *
   * @param done gets what went wrong, or null, on the engine thread
   */
  void advance(ReplyGuide guide, int token, Consumer<Throwable> done) {
    threads.execute(
        () -> {
          Throwable failure = null;
          try {
            guide.accept(token);
            prepare(guide);
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
}
