package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.GenerationFields;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.RequestFields;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A request for a message.
 *
 * @param model the model's name as it was asked for, or null
 * @param user the client's user, or null
 * @param messages the whole conversation, its system prompt first
 * @param options how text is generated
 * @param pinMillis minimum time to keep the prompt's pages, in milliseconds; 0 for none
 * @param stream whether the client wants events
 */
record MessagesRequest(
    String model,
    String user,
    List<Message> messages,
    GenerationOptions options,
    long pinMillis,
    boolean stream) {

  private static final Set<String> SERVED =
      Set.of(
          "cache_control",
          "max_tokens",
          "messages",
          "metadata",
          "model",
          "stop_sequences",
          "stream",
          "system",
          "temperature",
          "thinking",
          "tool_choice",
          "tools",
          "output_config",
          "output_format",
          "top_k",
          "top_p");

  private static final Set<String> REFUSED = Set.of("mcp_servers");

  /**
   * Reads the body of a request.
   *
   * @param counting whether the request only counts the prompt's tokens; then it needs no {@code
   *     max_tokens}
   */
  static MessagesRequest read(Exchange exchange, boolean counting) {
    List<String> leftOut = new ArrayList<>();
    JsonObject body = RequestFields.check(exchange, SERVED, REFUSED);
    MessageBlocks blocks =
        new MessageBlocks(new ContentParts(exchange.refusesParts(), leftOut::add));
    List<Message> messages = blocks.read(body.require("messages"));
    blocks.controls().read(body);
    ObjectNode options = new MessageTools(blocks.controls(), leftOut::add).read(body);
    if (messages.get(messages.size() - 1).role().equals("assistant")) {
      options.put("continue_final_message", true);
    }
    RequestFields.ignore(exchange, leftOut);
    if (!counting) {
      body.require("max_tokens").integer("max_tokens", 1, Integer.MAX_VALUE);
    }
    JsonObject metadata = body.object("metadata");
    return new MessagesRequest(
        body.text("model"),
        metadata == null ? null : metadata.text("user_id"),
        messages,
        GenerationFields.read(body, "max_tokens", "stop_sequences", -1, options),
        blocks.controls().pinMillis(),
        body.bool("stream", false));
  }
}
