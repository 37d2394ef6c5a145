package io.radixflow.operators.session;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.util.Objects;
import java.util.Set;

/**
 * Decides which cached pages each session may use.
 *
 * @param key the key of the namespaces' hashes; equal on all TaskManagers
 * @param sharing tenants whose system prompts are in the public namespace; {@link #ALL} for all
 */
@PublicApi
public record TenantNamespaces(NamespaceKey key, Set<String> sharing) implements Serializable {

  /** The name that means every tenant. */
  public static final String ALL = "*";

  private static final String NO_ADAPTER = "";

  public TenantNamespaces {
    Objects.requireNonNull(key, "key");
    sharing = Set.copyOf(sharing);
  }

  public String namespace(SessionSlot slot) {
    return key.namespace(slot.tenant(), slot.cacheSalt(), NO_ADAPTER);
  }

  /** Returns whether the pages of the session's system prompt are shared; a salt prevents it. */
  public boolean sharesSystemPrompt(SessionSlot slot) {
    return slot.prompted()
        && !slot.tenant().isEmpty()
        && slot.cacheSalt().isEmpty()
        && (sharing.contains(ALL) || sharing.contains(slot.tenant()));
  }
}
