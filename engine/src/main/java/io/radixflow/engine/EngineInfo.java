package io.radixflow.engine;

import io.radixflow.models.ModelConfig;
import io.radixflow.protocol.PublicApi;

/**
 * The constants of an engine.
 *
 * @param model the model's shape
 * @param backend one line on the backend
 * @param contextLength tokens of prompt and reply together that one request may have
 * @param pages pages of the KV pool
 * @param pageTokens tokens per page
 * @param numericsEpoch of backend, model and tokenizer
 */
@PublicApi
public record EngineInfo(
    ModelConfig model,
    String backend,
    int contextLength,
    int pages,
    int pageTokens,
    String numericsEpoch) {}
