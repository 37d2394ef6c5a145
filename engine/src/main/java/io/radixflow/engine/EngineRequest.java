package io.radixflow.engine;

import io.radixflow.grammar.GrammarSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.reply.ReasoningTracker;
import java.util.List;
import java.util.Map;

/**
 * A request for one reply.
 *
 * @param label names the request in logs and, hashed, in the crash journal; unique, and the same in
 *     all attempts
 * @param namespace isolates cached pages: requests share pages only within one namespace; empty for
 *     the public one
 * @param prompt makes the prompt's token ids, on an intake thread
 * @param resumed ids that an earlier attempt generated; they are prefilled, not sampled again, and
 *     count as generated. Their text is not repeated in progress: the first progress begins at
 *     {@code tokenOffset = resumed.length} and the {@code textOffset} that follows from them
 * @param sampling how tokens are drawn
 * @param maxTokens limit on generated tokens, {@code resumed} included; at least 1. The engine caps
 *     it at what the context window leaves
 * @param stop stop strings, not part of the reply's text; may be empty
 * @param ignoreEndOfTurn whether to generate past end-of-turn tokens (benchmarks)
 * @param session the conversation that it is a turn of, or null
 * @param service tenant, priority and routing key
 * @param hints how valuable its cached pages are
 * @param markup special tokens that appear in the reply's text, with their texts; other special
 *     tokens have no text
 * @param grammar the grammar that constrains the reply; null for none. Not together with {@code
 *     ignoreEndOfTurn}
 * @param reasoning ends the reply's reasoning when its budget is used up; null for no budget
 * @param prediction a text that the reply may repeat, which makes it faster; null for none. It does
 *     not change the reply
 * @param tokens options for single tokens of the prompt and the reply
 * @param begun whether the prompt ends within the reply's text, so that the first generated token
 *     is not the beginning of a text
 */
public record EngineRequest(
    String label,
    String namespace,
    PromptSource prompt,
    int[] resumed,
    SamplingParams sampling,
    int maxTokens,
    List<String> stop,
    boolean ignoreEndOfTurn,
    SessionRef session,
    ServiceClass service,
    CacheHints hints,
    Map<Integer, String> markup,
    GrammarSource grammar,
    ReasoningSource reasoning,
    PredictionSource prediction,
    TokenOptions tokens,
    boolean begun) {

  /** Makes a prompt; runs on an intake thread, so it may template and tokenise. */
  @FunctionalInterface
  public interface PromptSource {
    /**
     * @return the prompt's ids, at least one
     * @throws PromptException if no prompt can be made; its message goes to the sender
     */
    int[] ids() throws PromptException;

    /**
     * Returns how many ids at the beginning reveal nothing about the request's owner. Whole pages
     * of these ids may be shared with other namespaces. Called after {@link #ids}.
     */
    default int publicTokens() {
      return 0;
    }
  }

  /** Makes the grammar of a reply; runs on an intake thread, which then compiles the grammar. */
  @FunctionalInterface
  public interface GrammarSource {
    /**
     * Returns the grammar. It depends on the prompt only, so that another engine can continue the
     * reply.
     *
     * @param prompt the prompt's ids
     * @throws IllegalArgumentException if no such grammar can be made; its message goes to the
     *     sender
     */
    GrammarSpec of(int[] prompt);

    /**
     * Returns the name of the option that asks for the grammar, for error messages; may be empty.
     */
    default String option() {
      return "";
    }

    /** Returns this source with the name of the option that asks for it. */
    default GrammarSource of(String option) {
      GrammarSource source = this;
      return new GrammarSource() {
        @Override
        public GrammarSpec of(int[] prompt) {
          return source.of(prompt);
        }

        @Override
        public String option() {
          return option;
        }
      };
    }
  }

  /** Creates the tracker for the reasoning of a reply; runs on an intake thread. */
  @FunctionalInterface
  public interface ReasoningSource {
    /**
     * Returns the tracker at the reply's start; null if the model writes no reasoning.
     *
     * @param prompt the prompt's ids
     */
    ReasoningTracker of(int[] prompt);
  }

  /** Makes the tokens of a predicted text; runs on an intake thread. */
  @FunctionalInterface
  public interface PredictionSource {
    /** Returns the ids of the text; an empty array if there is nothing to predict. */
    int[] ids();
  }

  public EngineRequest {
    stop = List.copyOf(stop);
    if (ignoreEndOfTurn && grammar != null) {
      throw new IllegalArgumentException(
          "a reply with a grammar cannot ignore the end of the turn");
    }
  }

  /**
   * Returns a builder with these defaults: public namespace, greedy sampling, the reply ends with
   * its turn and begins at its first token, no session, default scheduling.
   */
  public static EngineRequestBuilder builder(String label, PromptSource prompt, int maxTokens) {
    return new EngineRequestBuilder(label, prompt, maxTokens);
  }
}
