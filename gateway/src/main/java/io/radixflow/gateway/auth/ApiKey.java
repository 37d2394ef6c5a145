package io.radixflow.gateway.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.Sha256;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * A line of the file of API keys. The file contains no secrets, only a salted hash of each key's
 * secret. A key has the form {@code rf_ID_SECRET}. The secret has 256 random bits, so a fast hash
 * is enough.
 *
 * @param id finds the line of a key
 * @param salt 16 random bytes
 * @param hash SHA-256 of salt and secret
 * @param tenant the owner of the sessions of the key's user; empty for the default tenant
 * @param models models that the key's user may use; empty for all models
 * @param requestsPerMinute 0 for no limit
 * @param concurrentRequests 0 for no limit
 * @param operator whether the key's user may open the live page, which shows all tenants
 */
public record ApiKey(
    String id,
    byte[] salt,
    byte[] hash,
    String tenant,
    List<String> models,
    int requestsPerMinute,
    int concurrentRequests,
    boolean operator) {

  static final String PREFIX = "rf_";
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();
  private static final int ID_BYTES = 6;
  private static final int SALT_BYTES = 16;
  private static final int SECRET_BYTES = 32;
  private static final int MAX_LIMIT = 1_000_000;
  private static final int MAX_MODELS = 100;
  private static final Set<String> FIELDS =
      Set.of(
          "id",
          "salt",
          "hash",
          "tenant",
          "models",
          "requests_per_minute",
          "concurrent_requests",
          "operator");

  /**
   * A new key.
   *
   * @param text the key that its user sends; it is not stored anywhere
   * @param line the line to add to the file
   */
  public record Made(String text, ApiKey line) {}

  /** Creates a key that is not an operator's. */
  public static Made make(
      String tenant, List<String> models, int requestsPerMinute, int concurrentRequests) {
    return make(tenant, models, requestsPerMinute, concurrentRequests, false);
  }

  /** Creates a key. */
  public static Made make(
      String tenant,
      List<String> models,
      int requestsPerMinute,
      int concurrentRequests,
      boolean operator) {
    String id = HexFormat.of().formatHex(random(ID_BYTES));
    String secret = TEXT.encodeToString(random(SECRET_BYTES));
    byte[] salt = random(SALT_BYTES);
    ApiKey key =
        new ApiKey(
            id,
            salt,
            hash(salt, secret),
            tenant,
            models,
            requestsPerMinute,
            concurrentRequests,
            operator);
    return new Made(PREFIX + id + "_" + secret, key);
  }

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    RANDOM.nextBytes(bytes);
    return bytes;
  }

  private static byte[] hash(byte[] salt, String secret) {
    MessageDigest digest = Sha256.digest();
    digest.update(salt);
    return digest.digest(secret.getBytes(UTF_8));
  }

  /** Returns whether a secret belongs to this key. Takes the same time for every secret. */
  boolean matches(String secret) {
    return MessageDigest.isEqual(hash, hash(salt, secret));
  }

  /** Returns the line as JSON, without a line end. */
  public String toJson() {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("id", id);
    json.put("salt", HexFormat.of().formatHex(salt));
    json.put("hash", HexFormat.of().formatHex(hash));
    json.put("tenant", tenant);
    models.forEach(json.withArray("models")::add);
    json.put("requests_per_minute", requestsPerMinute);
    json.put("concurrent_requests", concurrentRequests);
    json.put("operator", operator);
    return json.toString();
  }

  /**
   * Reads a line.
   *
   * @throws InvalidInputException if a field is wrong, missing or unknown
   */
  static ApiKey read(JsonObject line) {
    line.allow(FIELDS).require("id", "salt", "hash");
    String tenant = line.name("tenant");
    List<String> models = line.texts("models", MAX_MODELS);
    return new ApiKey(
        line.id("id"),
        bytes(line, "salt"),
        bytes(line, "hash"),
        tenant == null ? "" : tenant,
        models == null ? List.of() : models,
        (int) line.integer("requests_per_minute", 0, MAX_LIMIT, 0),
        (int) line.integer("concurrent_requests", 0, MAX_LIMIT, 0),
        line.bool("operator", false));
  }

  private static byte[] bytes(JsonObject line, String field) {
    try {
      return HexFormat.of().parseHex(line.text(field));
    } catch (IllegalArgumentException e) {
      throw new InvalidInputException(field + " is not hexadecimal");
    }
  }
}
