package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.api.RequestFields;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.api.ToolReader;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.text.ModelText;
import io.radixflow.gateway.text.TokenText;
import io.radixflow.protocol.event.GenerationOptionsReader;
import io.radixflow.protocol.json.ContentParts;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import io.vertx.core.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * {@code POST /tokenize} and {@code /detokenize}, with the field names of vLLM and llama.cpp. They
 * run on worker threads and use the tokenizer of the gateway's model file.
 */
public final class TokenizeEndpoints implements EndpointGroup {

  private static final Set<String> TEXTS =
      RequestFields.names(
          """
          model prompt content with_pieces add_special_tokens return_token_strs messages
          tools continue_final_message add_generation_prompt chat_template_kwargs
          reasoning_effort
          """);
  private static final Set<String> TOKENS = Set.of("model", "tokens");

  private final ServedModels models;
  private final ModelText text;

  public TokenizeEndpoints(ServedModels models, ModelText text) {
    this.models = models;
    this.text = text;
  }

  @Override
  public void addTo(Routes routes) {
    routes.add(HttpMethod.POST, "/tokenize", this::tokenize);
    routes.add(HttpMethod.POST, "/detokenize", this::detokenize);
  }

  private void tokenize(Exchange exchange) {
    JsonObject body = fields(exchange, TEXTS);
    ObjectNode raw = exchange.body();
    boolean pieces = body.bool("with_pieces", false);
    boolean strings = body.bool("return_token_strs", false);
    Boolean special = body.bool("add_special_tokens");
    raw.remove("add_special_tokens");
    if (body.has("messages")) {
      List<String> ignored = new ArrayList<>();
      if (Boolean.TRUE.equals(special)) {
        ignored.add("add_special_tokens"); // the chat template writes special tokens
      }
      new ToolReader(ToolReader.Form.CHAT, ignored::add).read(body, raw);
      NestedFields.leaveOut(raw, ignored::add);
      List<Message> messages =
          ChatMessages.read(body, new ContentParts(exchange.refusesParts(), ignored::add));
      RequestFields.ignore(exchange, ignored);
      GenerationOptions options = GenerationOptionsReader.read(body);
      answer(exchange, () -> tokens(text.encode(messages, options, "messages"), pieces, strings));
      return;
    }
    boolean vllm = body.has("prompt");
    String given = body.text(vllm ? "prompt" : "content");
    if (given == null) {
      throw new InvalidInputException("prompt is missing: a text, or messages in its place");
    }
    boolean adds = special == null ? vllm : special; // llama.cpp adds no special tokens by default
    answer(exchange, () -> tokens(text.encode(Texts.wellFormed(given), adds), pieces, strings));
  }

  private void detokenize(Exchange exchange) {
    int[] ids = fields(exchange, TOKENS).require("tokens").integers("tokens");
    answer(
        exchange,
        () -> {
          String decoded = text.decode(ids);
          return Json.write(Json.object().put("prompt", decoded).put("content", decoded));
        });
  }

  private JsonObject fields(Exchange exchange, Set<String> served) {
    JsonObject body = RequestFields.check(exchange, served, Set.of());
    models.served(exchange.caller(), body.text("model"));
    return body;
  }

  private byte[] tokens(int[] ids, boolean pieces, boolean strings) {
    ObjectNode json = Json.object().put("count", ids.length);
    ArrayNode tokens = json.put("max_model_len", text.window().served()).putArray("tokens");
    ArrayNode texts = strings ? json.putArray("token_strs") : null;
    for (int id : ids) {
      if (pieces) {
        addPiece(tokens.addObject().put("id", id), text.bytes(id));
      } else {
        tokens.add(id);
      }
      if (strings) {
        texts.add(TokenText.shown(text.bytes(id)));
      }
    }
    return Json.write(json);
  }

  /** Adds the text of a token, or its bytes if they are not valid text, as llama.cpp does. */
  private static void addPiece(ObjectNode token, byte[] bytes) {
    String piece = new String(bytes, StandardCharsets.UTF_8);
    if (Arrays.equals(piece.getBytes(StandardCharsets.UTF_8), bytes)) {
      token.put("piece", piece);
      return;
    }
    ArrayNode array = token.putArray("piece");
    for (byte each : bytes) {
      array.add(each & 0xff);
    }
  }

  /**
   * Runs work and answers with its result.
   *
   * @param work runs on a worker thread; the client gets an {@link ApiException} that it throws
   */
  private static void answer(Exchange exchange, Callable<byte[]> work) {
    exchange.blocking(work, done -> exchange.json(200, done));
  }
}
