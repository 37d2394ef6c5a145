package io.radixflow.gateway.chat;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.protocol.json.JsonObject;

/** Defines which events of a stream have token counts. */
enum StreamUsage {
  NONE,
  /** An event after the last piece has the counts. In the pieces they are null. */
  LAST,
  /** Each piece has the counts so far of its choice, and the last event has all counts. */
  EACH;

  /**
   * Reads the requested counts from a body.
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
