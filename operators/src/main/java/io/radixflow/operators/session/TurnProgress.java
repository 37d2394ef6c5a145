package io.radixflow.operators.session;

import io.radixflow.protocol.record.Reply;
import java.util.List;

/**
 * The progress of a running turn between two checkpoints. It is appended to keyed state, so that a
 * checkpoint writes only new progress. A Flink POJO.
 *
 * @param prompt in the first piece, the prompt; else null
 * @param tokens newly generated ids
 * @param text newly visible text
 * @param logprobs one entry per new token if requested, else empty
 * @param cachedTokens prompt tokens that were cached
 * @param shownTokens tokens of the whole turn that deltas have covered; the text of later tokens
 *     was held back
 * @param promptLogprobs one entry for each token of the prompt except the first, in the first piece
 *     with tokens if requested; else null
 * @param model in the first piece, the fingerprint of the model that generates the reply; else null
 */
public record TurnProgress(
    Prompt prompt,
    int[] tokens,
    String text,
    List<Reply.TokenLogprob> logprobs,
    int cachedTokens,
    int shownTokens,
    String model,
    List<Reply.TokenLogprob> promptLogprobs) {}
