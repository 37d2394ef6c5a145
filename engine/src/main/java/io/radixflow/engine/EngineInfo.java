package io.radixflow.engine;

import io.radixflow.models.ModelConfig;
import io.radixflow.protocol.PublicApi;

/**
 * The constants of an engine.
 *
 * @param model the model's shape
 * @param backend a one-line description of the backend
 * @param contextLength maximum tokens of a request's prompt and reply together
 * @param pages pages of the KV pool
 * @param pageTokens tokens per page
 * @param numericsEpoch the numerics epoch of backend, model and tokenizer together
 */
@PublicApi
public record EngineInfo(
    ModelConfig model,
    String backend,
    int contextLength,
    int pages,
    int pageTokens,
    String numericsEpoch) {}
