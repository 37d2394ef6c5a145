package io.radixflow.gateway.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.gateway.http.Exchange;
import io.radixflow.models.Sha256;
import io.radixflow.text.template.Message;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/**
 * Finds the session when a client resends the whole conversation with each request. If the client
 * names a session, in a header or a field, that session is used; otherwise the session is derived
 * from the beginning of the conversation. The same request gives the same session on every gateway.
 */
public final class SessionFinder {

  /** Headers in which existing clients name their conversations. */
  private static final List<String> HEADERS =
      List.of("X-Conversation-Id", "x-claude-code-session-id", "X-Dynamo-Session-ID", "session_id");

  private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
  private static final int ID_BYTES = 16;

  private SessionFinder() {}

  /**
   * The session of a conversation.
   *
   * @param id the id of the session for the job
   * @param named whether the client named it; if not, it is derived from the beginning of the
   *     conversation
   * @param spares how many sessions were tried for the turn before this session
   */
  public record Root(String id, boolean named, int spares) {

    private static final int MAX_SPARES = 4;

    /** Returns the session that a request tries first. */
    public static Root first(String id, boolean named) {
      return new Root(id, named, 0);
    }

    /**
     * Returns another session for one turn of the conversation, if this session does not accept the
     * turn.
     */
    Root spare(String turn) {
      return new Root(SessionFinder.id("chat", id, turn), true, spares + 1);
    }

    boolean hasSpare() {
      return spares < MAX_SPARES;
    }
  }

  /**
   * Returns the session of a request.
   *
   * @param name the value of the field in which the client names it, or null
   * @param user the field {@code user}, or null
   */
  public static Root of(
      Exchange exchange, String name, String user, String model, List<Message> messages) {
    String tenant = exchange.caller().tenant();
    for (String header : HEADERS) {
      String value = exchange.header(header);
      if (value != null && !value.isBlank()) {
        return Root.first(id("chat", tenant, header, value), true);
      }
    }
    if (name != null && !name.isBlank()) {
      return Root.first(id("chat", tenant, "prompt_cache_key", name), true);
    }
    String system = first(messages, "system");
    String asked = first(messages, "user");
    return Root.first(
        id("chat", tenant, "", user == null ? "" : user, model, system, asked), false);
  }

  /**
   * Returns the first message of a role, without the parts that clients change when they send it
   * again.
   */
  private static String first(List<Message> messages, String role) {
    return messages.stream()
        .filter(message -> message.role().equals(role))
        .findFirst()
        .map(Message::content)
        .map(content -> content.strip().replace("\r\n", "\n"))
        .orElse("");
  }

  /**
   * Returns the turn id that is derived from the header {@code Idempotency-Key}, so that the client
   * can send the request again; null without the header.
   */
  public static String repeatableTurn(Exchange exchange) {
    String key = exchange.header(IDEMPOTENCY_KEY);
    return key == null || key.isBlank()
        ? null
        : id("turn", exchange.caller().tenant(), IDEMPOTENCY_KEY, key);
  }

  /**
   * Names session and turn in headers of the response. Call it before any part of the response is
   * written.
   */
  public static void name(Exchange exchange, String session, String turn) {
    exchange.setHeader("X-Radixflow-Session", session);
    exchange.setHeader("X-Radixflow-Turn", turn);
  }

  private static String id(String kind, String... parts) {
    MessageDigest digest = Sha256.digest();
    for (String part : parts) {
      byte[] bytes = part.getBytes(UTF_8);
      digest.update(ByteBuffer.allocate(Integer.BYTES).putInt(bytes.length).flip());
      digest.update(bytes);
    }
    byte[] hash = Arrays.copyOf(digest.digest(), ID_BYTES);
    return kind + "_" + Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
  }
}
