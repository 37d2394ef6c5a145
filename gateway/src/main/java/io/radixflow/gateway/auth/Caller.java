package io.radixflow.gateway.auth;

import java.util.Set;

/**
 * The sender of a request.
 *
 * @param tenant the owner of all sessions that the request may reach; empty for the default tenant
 * @param models names of the models that the caller may use; empty for all
 * @param operator whether the caller may see data of all tenants
 */
public record Caller(String tenant, Set<String> models, boolean operator) {

  /** The caller of a gateway without API keys. */
  public static final Caller ANONYMOUS = new Caller("", Set.of(), true);

  /** Returns whether the caller may use a model. */
  public boolean mayUse(String model) {
    return models.isEmpty() || models.contains(model);
  }
}
