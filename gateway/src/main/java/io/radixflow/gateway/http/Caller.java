package io.radixflow.gateway.http;

/**
 * Who sends a request.
 *
 * @param tenant the owner of all sessions that the request may reach; empty for the default tenant
 */
public record Caller(String tenant) {

  /** The caller of a gateway without API keys. */
  public static final Caller ANONYMOUS = new Caller("");
}
