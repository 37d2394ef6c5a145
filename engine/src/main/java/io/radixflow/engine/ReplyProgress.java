package io.radixflow.engine;

import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import java.util.List;

/**
 * New progress of a request.
 *
 * @param tokenOffset generated tokens before these, including the tokens of {@link
 *     EngineRequest#resumed}
 * @param tokens new token ids, the end token included; possibly empty
 * @param textOffset code points of reply text before {@code text}
 * @param text new visible text in whole characters; an end that may be part of a stop string is
 *     held back
 * @param logprobs one entry per new token if the request asked for them, else empty
 * @param finish why the request ended, or null while it continues
 * @param stop the stop string that ended it, or null
 * @param queuedMillis milliseconds from its submission until it was admitted, or -1 before
 * @param usage token counts so far; exact at the end
 * @param error the error if {@code finish} is {@code ERROR} or {@code REJECTED}; else null
 * @param stopToken the stop token that ended it, or null
 * @param prompt log probabilities of all tokens of the prompt except the first, sent once if the
 *     request asked for them; else empty
 * @param warnings requested constraints that its grammar does not enforce; empty for none
 * @param promptDone tokens of the prompt that were cached or have been computed, if the request
 *     asked for the progress of its prompt; else -1
 */
public record ReplyProgress(
    int tokenOffset,
    int[] tokens,
    int textOffset,
    String text,
    List<TokenLogprob> logprobs,
    FinishReason finish,
    String stop,
    int queuedMillis,
    Usage usage,
    ReplyError error,
    Integer stopToken,
    List<TokenLogprob> prompt,
    List<String> warnings,
    int promptDone) {

  /**
   * Log probabilities of one generated token, natural log.
   *
   * @param topIds the most probable ids, most probable first
   * @param topLogprobs their log probabilities
   */
  public record TokenLogprob(int id, float logprob, int[] topIds, float[] topLogprobs) {}
}
