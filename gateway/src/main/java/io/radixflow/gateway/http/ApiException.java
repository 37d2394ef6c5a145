package io.radixflow.gateway.http;

import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An error for the client, in the terms of OpenAI's API; an {@link ErrorFormat} writes it. It has
 * no stack trace, because clients can cause many errors.
 */
public final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * The beginning of a message about a field: its path and a verb, its name and a colon, or a
   * statement that the field is unknown.
   */
  private static final Pattern FIELD =
      Pattern.compile(
          "(?!there |it |this )([a-z][a-z0-9_]*)(?:[.\\[].*?)?"
              + "(?::| (?:is|are|has|have|needs|lacks|and|must|says|asks|names)\\b).*"
              + "|the field \"(\\w+)\" is unknown.*",
          Pattern.DOTALL);

  private final int status;
  private final String type;
  private final String code;
  private final String param;
  private final Hint hint;
  private int promptTokens;
  private int contextWindow;

  /** A header that tells clients how to handle the error, such as Retry-After. */
  public record Hint(String header, String value) {}

  /**
   * @param status the HTTP status
   * @param type OpenAI's kind of error, such as invalid_request_error
   * @param code names the error for programs; may be null
   * @param param the field that is wrong; may be null
   * @param message for people; names the fault and the remedy
   */
  public ApiException(int status, String type, String code, String param, String message) {
    this(status, type, code, param, message, null);
  }

  private ApiException(
      int status, String type, String code, String param, String message, Hint hint) {
    super(message, null, false, false);
    this.status = status;
    this.type = type;
    this.code = code;
    this.param = param;
    this.hint = hint;
  }

  /** Returns the error of an invalid request. */
  public static ApiException badRequest(String param, String message) {
    return new ApiException(400, "invalid_request_error", null, param, message);
  }

  /** Returns the error of an unsupported field that would change the meaning of the reply. */
  public static ApiException notServed(String param) {
    return new ApiException(
        400, "invalid_request_error", "unsupported_parameter", param, param + " is not served yet");
  }

  /**
   * Returns the error of a prompt that does not fit into the context window.
   *
   * @param param the field that contains the prompt
   * @param promptTokens tokens of the prompt; 0 if unknown
   * @param contextWindow size of the window in tokens
   */
  public static ApiException tooLong(
      String param, String message, int promptTokens, int contextWindow) {
    ApiException error =
        new ApiException(400, "invalid_request_error", "context_length_exceeded", param, message);
    error.promptTokens = promptTokens;
    error.contextWindow = contextWindow;
    return error;
  }

  /** Returns the error of a body in an unsupported encoding. */
  public static ApiException unsupportedEncoding(String message) {
    return new ApiException(
        415,
        "invalid_request_error",
        "unsupported_encoding",
        null,
        message,
        new Hint("Accept-Encoding", "gzip, deflate, identity"));
  }

  /**
   * Returns the error of a body that is too large.
   *
   * @param most the highest size of a body in bytes
   */
  public static ApiException tooLarge(int most) {
    return new ApiException(
        413,
        "invalid_request_error",
        "request_too_large",
        null,
        "the body has more than " + most + " bytes, which gateway.max-body allows");
  }

  /** Returns the error of a request that its sender may not send. */
  public static ApiException forbidden(String message) {
    return new ApiException(403, "permission_error", "forbidden", null, message);
  }

  /** Returns the error of an object that does not exist, or that the caller may not see. */
  public static ApiException notFound(String message) {
    return new ApiException(404, "invalid_request_error", "not_found", null, message);
  }

  /** Returns the error of a request that can succeed later. */
  public static ApiException busy(String code, String message, int retryAfterSeconds) {
    return new ApiException(
        429, "rate_limit_error", code, null, message, retryAfter(retryAfterSeconds));
  }

  /** Returns the error of a gateway that cannot reach the job. */
  public static ApiException unavailable(String message) {
    return new ApiException(503, "server_error", "unavailable", null, message, retryAfter(1));
  }

  private static Hint retryAfter(int seconds) {
    return new Hint("Retry-After", Integer.toString(seconds));
  }

  /** Returns the error of a request without a key, or with a wrong one. */
  public static ApiException unauthorized(String message) {
    return new ApiException(
        401,
        "authentication_error",
        "invalid_api_key",
        null,
        message,
        new Hint("WWW-Authenticate", "Bearer"));
  }

  /** Returns the error of a method that a path does not support. */
  public static ApiException notAllowed(Collection<String> allowed) {
    String methods = String.join(", ", allowed);
    return new ApiException(
        405,
        "invalid_request_error",
        "method_not_allowed",
        null,
        "the method is not served at this path; " + methods + " is",
        new Hint("Allow", methods));
  }

  /** Returns the error of an invalid request. The message may begin with the name of a field. */
  public static ApiException badRequest(String message) {
    return badRequest(field(message), message);
  }

  /**
   * Returns the field of the body that a message is about; null if the message is not about a
   * field.
   */
  public static String field(String message) {
    Matcher field = FIELD.matcher(message);
    if (!field.matches()) {
      return null;
    }
    return field.group(1) != null ? field.group(1) : field.group(2);
  }

  /** Returns this error for another field; null for no field. */
  public ApiException with(String field) {
    ApiException error = new ApiException(status, type, code, field, getMessage(), hint);
    error.promptTokens = promptTokens;
    error.contextWindow = contextWindow;
    return error;
  }

  public int status() {
    return status;
  }

  public String type() {
    return type;
  }

  public String code() {
    return code;
  }

  public String param() {
    return param;
  }

  /** Returns the number of tokens of a prompt that does not fit into the context window; else 0. */
  public int promptTokens() {
    return promptTokens;
  }

  /** Returns the size in tokens of a context window that is too small for a prompt; else 0. */
  public int contextWindow() {
    return contextWindow;
  }

  /** Returns the header that the response has for this error; null for none. */
  public Hint hint() {
    return hint;
  }
}
