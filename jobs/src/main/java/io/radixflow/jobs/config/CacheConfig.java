package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.client.config.OptionGroup;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.Settings;
import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.cache.session.SessionBounds;
import io.radixflow.operators.session.TenantNamespaces;
import java.util.HashSet;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;

/** The options of the prefix cache. */
public final class CacheConfig {

  private static final CacheOptions DEFAULT = CacheOptions.DEFAULT;
  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<PrefixCaching> KIND =
      ALL.choice("cache.kind", PrefixCaching.RADIX)
          .describe(
              "Which pages requests share: 'radix' shares every prefix, 'chunk' and 'naive' share"
                  + " nothing. With 'chunk' a preempted request finds its own pages again.");

  public static final ConfigOption<String> EVICTION_POLICY =
      ALL.add(
              key("cache.eviction-policy").stringType().defaultValue(DEFAULT.evictionPolicy()),
              "one of " + String.join(", ", EvictionPolicies.names()),
              EvictionPolicies::isKnown)
          .describe("Which cached pages are evicted first when the pool is full.");

  public static final ConfigOption<Double> SLRU_PROTECTED_SHARE =
      ALL.number("cache.slru-protected-share", DEFAULT.slruProtectedShare(), 0.01, 1.0)
          .describe(
              "Part of the pool that policy 'slru' keeps for pages used more than once; 1 is"
                  + " SGLang's behaviour.");

  public static final ConfigOption<Integer> SESSION_SLOTS =
      ALL.integer("cache.session-slots", 100_000, 1, 100_000_000)
          .describe(
              "Most sessions whose cached pages one TaskManager keeps locked between turns. If"
                  + " there are more sessions, the pages of the least recently used sessions are"
                  + " freed.");

  public static final ConfigOption<Integer> TENANT_SLOTS =
      ALL.integer("cache.session-slots-per-tenant", 100_000, 1, 100_000_000)
          .describe("The same limit for the sessions of one tenant.");

  public static final ConfigOption<Double> SESSION_SHARE =
      ALL.number("cache.session-share", 1.0, 0.001, 1)
          .describe(
              "Part of the KV pool that one session may keep to itself between turns; pages beyond"
                  + " it are evicted first.");

  public static final ConfigOption<Double> TENANT_SHARE =
      ALL.number("cache.tenant-share", 1.0, 0.001, 1)
          .describe(
              "Part of the KV pool that one tenant's sessions may keep to themselves between turns;"
                  + " pages beyond it are evicted first.");

  public static final ConfigOption<Boolean> PREFILL_WHEN_IDLE =
      ALL.flag("cache.prefill-when-idle", true)
          .describe(
              "Whether an idle engine computes prefixes ahead: the prefix of an announced turn that"
                  + " no tier has, and the prefix of the next prompt if the chat template leaves"
                  + " out the model's reasoning.");

  public static final ConfigOption<Double> WINDOW_SHARE =
      ALL.number("cache.window-share", DEFAULT.windowShare(), 0.01, 1.0)
          .describe(
              "For models with sliding-window layers: part of the pool's pages that can keep their"
                  + " entries in these layers. A lower value leaves memory for more pages.");

  public static final ConfigOption<String> NAMESPACE_KEY =
      ALL.secret("cache.namespace-key")
          .describe(
              "Secret key of the hash that keeps tenants' pages apart, the same on all"
                  + " TaskManagers; best set by its environment variable. Without a key, each"
                  + " submission draws a random key.");

  public static final ConfigOption<List<String>> SHARED_SYSTEM_PROMPTS =
      ALL.add(
              key("cache.shared-system-prompts").stringType().asList().defaultValues(),
              "tenants, separated by semicolons, or *",
              tenants -> true)
          .describe(
              "Tenants whose system prompts' pages are shared with each other and with sessions"
                  + " without a tenant; each tenant can learn from response times whether others"
                  + " use its system prompt.");

  private CacheConfig() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  /** Returns the prefix cache's options of the settings. */
  public static CacheOptions cache(Settings settings) {
    return new CacheOptions(
        settings.get(KIND),
        settings.get(EVICTION_POLICY),
        settings.get(SLRU_PROTECTED_SHARE),
        new SessionBounds(
            settings.get(SESSION_SLOTS),
            settings.get(TENANT_SLOTS),
            settings.get(SESSION_SHARE),
            settings.get(TENANT_SHARE)),
        settings.get(PREFILL_WHEN_IDLE),
        settings.get(WINDOW_SHARE));
  }

  /** Returns the namespaces of tenants' pages, from the settings. */
  public static TenantNamespaces namespaces(Settings settings) {
    return new TenantNamespaces(
        namespaceKey(settings), new HashSet<>(settings.get(SHARED_SYSTEM_PROMPTS)));
  }

  /**
   * Returns the key. It travels with the job, so that a random key is the same on all TaskManagers.
   */
  private static NamespaceKey namespaceKey(Settings settings) {
    String secret = settings.get(NAMESPACE_KEY);
    return secret == null ? NamespaceKey.random() : NamespaceKey.of(secret);
  }
}
