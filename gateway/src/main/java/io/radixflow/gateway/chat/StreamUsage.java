package io.radixflow.gateway.chat;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.protocol.json.JsonObject;

/** Which events of a stream have counts of tokens. */
enum StreamUsage {
  NONE,
  /** An event after the last piece. The pieces have null. */
  LAST,
  /** Each piece has the counts so far of its choice, and the last event has all counts. */
  EACH;

  /**
   * Reads which counts a body asks for.
   *
   * @throws ApiException if the body asks for counts without a stream
   */
  static StreamUsage read(JsonObject body) {
    JsonObject streaming = body.object("stream_options");
    if (streaming == null) {
      return NONE;
    }
    if (!body.bool("stream", false)) {
      throw ApiException.badRequest(
          "stream_options", "stream_options is only allowed when stream is true");
    }
    boolean each = streaming.bool("continuous_usage_stats", false);
    return !streaming.bool("include_usage", false) ? NONE : each ? EACH : LAST;
  }
}
