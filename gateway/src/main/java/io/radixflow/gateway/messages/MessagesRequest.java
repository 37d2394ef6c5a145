package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.GenerationFields;
import io.radixflow.gateway.api.JsonFormat;
import io.radixflow.gateway.api.RequestFields;
import io.radixflow.gateway.api.Thinking;
import io.radixflow.gateway.api.ToolReader;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A request for a message.
 *
 * @param model the requested name of the model, or null
 * @param user the client's user, or null
 * @param messages the whole conversation, its system prompt first
 * @param options options of generation
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
      RequestFields.names(
          """
          cache_control max_tokens messages metadata model stop_sequences stream system
          temperature thinking tool_choice tools output_config output_format top_k top_p
          """);

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
    blocks.readControl(body);
    ObjectNode options = options(body, leftOut::add);
    body.objects("tools", "tools", Integer.MAX_VALUE).forEach(blocks::readControl);
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
        blocks.pinMillis(),
        body.bool("stream", false));
  }

  /** Reads tools, thinking and the format of the reply, and converts them to fields of events. */
  private static ObjectNode options(JsonObject body, Consumer<String> notice) {
    ObjectNode options = Json.object();
    new ToolReader(ToolReader.Form.MESSAGES, notice).read(body, options);
    Thinking.read(body.object("thinking"), options, notice);
    JsonFormat.read(format(body, notice), List.of("json_schema"), options, notice);
    return options;
  }

  /** Returns the format of the reply, by its current name or by its older name; null for none. */
  private static JsonObject format(JsonObject body, Consumer<String> notice) {
    JsonObject older = body.object("output_format");
    JsonObject output = body.object("output_config");
    if (output == null) {
      return older;
    }
    JsonObject today = output.object("format");
    if (older != null && today != null) {
      throw new InvalidInputException(
          "output_format and output_config.format both constrain the reply: give only one of"
              + " them");
    }
    output.leaveOut(List.of("format"), notice);
    return today == null ? older : today;
  }
}
