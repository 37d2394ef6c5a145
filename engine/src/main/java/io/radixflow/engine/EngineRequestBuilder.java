package io.radixflow.engine;

import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.protocol.record.TokenOptions;
import java.util.List;
import java.util.Map;

/** Puts an {@link EngineRequest} together; each method sets the component of its name. */
public final class EngineRequestBuilder {
  private final String label;
  private final EngineRequest.PromptSource prompt;
  private final int maxTokens;
  private String namespace = "";
  private int[] resumed = new int[0];
  private SamplingParams sampling = SamplingParams.GREEDY;
  private List<String> stop = List.of();
  private boolean ignoreEndOfTurn;
  private SessionRef session;
  private ServiceClass service = ServiceClass.DEFAULT;
  private CacheHints hints = CacheHints.NONE;
  private Map<Integer, String> markup = Map.of();
  private EngineRequest.GrammarSource grammar;
  private EngineRequest.ReasoningSource reasoning;
  private EngineRequest.PredictionSource prediction;
  private TokenOptions tokens = TokenOptions.NONE;
  private boolean begun;

  EngineRequestBuilder(String label, EngineRequest.PromptSource prompt, int maxTokens) {
    this.label = label;
    this.prompt = prompt;
    this.maxTokens = maxTokens;
  }

  public EngineRequestBuilder namespace(String namespace) {
    this.namespace = namespace;
    return this;
  }

  public EngineRequestBuilder resumed(int[] resumed) {
    this.resumed = resumed;
    return this;
  }

  public EngineRequestBuilder sampling(SamplingParams sampling) {
    this.sampling = sampling;
    return this;
  }

  public EngineRequestBuilder stop(List<String> stop) {
    this.stop = stop;
    return this;
  }

  public EngineRequestBuilder ignoreEndOfTurn(boolean ignoreEndOfTurn) {
    this.ignoreEndOfTurn = ignoreEndOfTurn;
    return this;
  }

  public EngineRequestBuilder session(SessionRef session) {
    this.session = session;
    return this;
  }

  public EngineRequestBuilder service(ServiceClass service) {
    this.service = service;
    return this;
  }

  public EngineRequestBuilder hints(CacheHints hints) {
    this.hints = hints;
    return this;
  }

  public EngineRequestBuilder markup(Map<Integer, String> markup) {
    this.markup = markup;
    return this;
  }

  public EngineRequestBuilder grammar(EngineRequest.GrammarSource grammar) {
    this.grammar = grammar;
    return this;
  }

  public EngineRequestBuilder reasoning(EngineRequest.ReasoningSource reasoning) {
    this.reasoning = reasoning;
    return this;
  }

  public EngineRequestBuilder prediction(EngineRequest.PredictionSource prediction) {
    this.prediction = prediction;
    return this;
  }

  public EngineRequestBuilder tokens(TokenOptions tokens) {
    this.tokens = tokens;
    return this;
  }

  public EngineRequestBuilder begun(boolean begun) {
    this.begun = begun;
    return this;
  }

  public EngineRequest build() {
    return new EngineRequest(
        label,
        namespace,
        prompt,
        resumed,
        sampling,
        maxTokens,
        stop,
        ignoreEndOfTurn,
        session,
        service,
        hints,
        markup,
        grammar,
        reasoning,
        prediction,
        tokens,
        begun);
  }
}
