package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.gateway.auth.Caller;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.text.ModelText;
import io.radixflow.protocol.json.Texts;
import io.vertx.core.http.HttpMethod;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The models that clients may name: the job's only one. */
public final class ServedModels implements EndpointGroup {

  private static final String SIMULATED = "sim:";

  private final String name;
  private final ModelAliases aliases;
  private final ModelText text;
  private final long since = System.currentTimeMillis() / 1000;

  /**
   * @param text has the model's context window, if the gateway has the model's file
   */
  public ServedModels(Settings settings, ModelText text) {
    this.name = nameOf(settings);
    this.aliases = new ModelAliases(settings, name);
    this.text = text;
  }

  /** Returns the model's name for clients, according to the settings. */
  public static String nameOf(Settings settings) {
    return settings.isGiven(GatewayConfig.MODEL_NAME)
        ? settings.get(GatewayConfig.MODEL_NAME)
        : lastPart(settings.get(SharedConfig.MODEL));
  }

  private static String lastPart(String model) {
    if (model.startsWith(SIMULATED)) {
      return "sim"; // options of the simulated model follow
    }
    Path file = Path.of(model).getFileName();
    String part = file == null ? model : file.toString();
    return part.endsWith(".gguf") ? part.substring(0, part.length() - 5) : part;
  }

  /** Returns the name of the model in responses. */
  public String name() {
    return name;
  }

  /**
   * Checks the model that a request names.
   *
   * @param requested the name or an alias; null for the default model
   * @return the name of the model that serves the request; replies contain this name
   * @throws ApiException with status 404 if there is no such model, or 403 if the caller may not
   *     use it
   */
  public String served(Caller caller, String requested) {
    if (requested == null || requested.equals(name) || aliases.match(requested)) {
      if (!caller.mayUse(name)) {
        throw new ApiException(
            403,
            "permission_error",
            "model_not_allowed",
            "model",
            "the API key does not allow the model \"" + name + "\"");
      }
      return name;
    }
    throw new ApiException(
        404,
        "invalid_request_error",
        "model_not_found",
        "model",
        "there is no model " + Texts.quote(requested) + "; this server has \"" + name + "\"");
  }

  @Override
  public void addTo(Routes routes) {
    routes.add(HttpMethod.GET, "/v1/models", this::list);
    routes.add(HttpMethod.GET, "/v1/models/{model*}", this::get);
  }

  private void list(Exchange exchange) {
    exchange.blocking(
        text::window,
        window -> {
          ObjectNode list = Json.object().put("object", "list");
          ArrayNode data = list.putArray("data");
          names().forEach(id -> data.add(model(id, window)));
          exchange.json(list);
        });
  }

  private Set<String> names() {
    Set<String> names = new LinkedHashSet<>(List.of(name));
    names.addAll(aliases.names());
    return names;
  }

  private void get(Exchange exchange) {
    String asked = exchange.pathParameter("model");
    served(exchange.caller(), asked);
    exchange.blocking(text::window, window -> exchange.json(model(asked, window)));
  }

  /** Writes the context window in the fields of vLLM, OpenRouter and llama.cpp. */
  private ObjectNode model(String id, ModelText.Window window) {
    ObjectNode json = Json.object().put("id", id).put("object", "model").put("created", since);
    json.put("owned_by", "radixflow").put("root", name);
    if (window != null) {
      json.put("max_model_len", window.served()).put("context_length", window.served());
      json.putObject("meta")
          .put("n_ctx", window.served())
          .put("n_ctx_train", window.trained())
          .put("n_vocab", window.vocabulary());
    }
    return json;
  }
}
