package io.radixflow.gateway.http;

import com.fasterxml.jackson.databind.JsonNode;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnKey;
import io.radixflow.gateway.turn.TurnObserver;
import io.radixflow.protocol.record.TraceContext;
import java.util.List;

/**
 * The span of one request, with the attributes of OpenTelemetry's conventions for generative AI. It
 * contains counts and ids, but no text. Belongs to the exchange's event loop.
 */
final class RequestSpan implements TurnObserver {

  private static final AttributeKey<Long> STATUS =
      AttributeKey.longKey("http.response.status_code");
  private static final AttributeKey<String> MODEL = AttributeKey.stringKey("gen_ai.request.model");
  private static final AttributeKey<Long> INPUT = AttributeKey.longKey("gen_ai.usage.input_tokens");
  private static final AttributeKey<Long> CACHED =
      AttributeKey.longKey("gen_ai.usage.cache_read.input_tokens");
  private static final AttributeKey<Long> OUTPUT =
      AttributeKey.longKey("gen_ai.usage.output_tokens");
  private static final AttributeKey<List<String>> FINISH =
      AttributeKey.stringArrayKey("gen_ai.response.finish_reasons");
  private static final AttributeKey<String> CONVERSATION =
      AttributeKey.stringKey("gen_ai.conversation.id");
  private static final AttributeKey<String> TURN = AttributeKey.stringKey("radixflow.turn");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  /** The longest name of a model in a span, because clients choose the names. */
  private static final int MAX_NAME = 256;

  private final Span span;
  private long input;
  private long output;
  private boolean begun;

  /**
   * @param span a started span, or null for none
   */
  RequestSpan(Span span) {
    this.span = span;
  }

  /** Returns the trace context for the events of the request; null without a span. */
  TraceContext context(String tracestate) {
    if (span == null) {
      return null;
    }
    SpanContext context = span.getSpanContext();
    String parent =
        "00-%s-%s-%s"
            .formatted(context.getTraceId(), context.getSpanId(), context.getTraceFlags().asHex());
    return new TraceContext(parent, tracestate);
  }

  /** Adds attributes from the request's body. */
  void body(JsonNode body) {
    JsonNode model = body == null ? null : body.get("model");
    if (span != null && model != null && model.isTextual()) {
      String name = model.textValue();
      span.setAttribute(MODEL, name.length() <= MAX_NAME ? name : name.substring(0, MAX_NAME));
    }
  }

  @Override
  public void firstPiece() {
    if (span != null && !begun) {
      begun = true;
      span.addEvent("gen_ai.first_token");
    }
  }

  @Override
  public void ended(TurnKey turn, TurnEnd end) {
    if (span == null) {
      return;
    }
    input = Math.max(input, end.usage().promptTokens());
    output += end.usage().completionTokens();
    span.setAttribute(INPUT, input);
    span.setAttribute(CACHED, (long) end.usage().cachedTokens());
    span.setAttribute(OUTPUT, output);
    span.setAttribute(FINISH, List.of(end.finishReason()));
    span.setAttribute(CONVERSATION, turn.session());
    span.setAttribute(TURN, turn.turn());
  }

  /**
   * Called when the request has ended.
   *
   * @param complete whether the client got the whole response
   */
  void end(int status, boolean complete) {
    if (span == null) {
      return;
    }
    span.setAttribute(STATUS, (long) status);
    if (!complete) {
      span.setAttribute(ERROR, "client_gone");
    } else if (status >= 400) {
      span.setAttribute(ERROR, Integer.toString(status));
    }
    if (status >= 500) {
      span.setStatus(StatusCode.ERROR);
    }
    span.end();
  }
}
