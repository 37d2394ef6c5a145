package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.operators.cache.PrefixCaching;
import io.radixflow.operators.cache.key.NamespaceKey;
import io.radixflow.operators.cache.policy.EvictionPolicies;
import io.radixflow.operators.cache.session.SessionBounds;
import io.radixflow.operators.engine.CacheOptions;
import io.radixflow.operators.flink.TenantNamespaces;
import java.util.HashSet;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;

/** The options of the prefix cache. */
public final class CacheConfig {

  private static final CacheOptions DEFAULT = CacheOptions.DEFAULT;
  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<PrefixCaching> KIND =
      ALL.choice(
          key("cache.kind").enumType(PrefixCaching.class).defaultValue(PrefixCaching.RADIX),
          PrefixCaching.values(),
          "What requests share of their pages: 'radix' every prefix, 'chunk' and 'naive' nothing; "
              + "with 'chunk' a preempted request finds its own again.");

  public static final ConfigOption<String> EVICTION_POLICY =
      ALL.add(
          key("cache.eviction-policy").stringType().defaultValue(DEFAULT.evictionPolicy()),
          "one of " + String.join(", ", EvictionPolicies.names()),
          EvictionPolicies::isKnown,
          "Which cached pages are evicted first when the pool is full.");

  public static final ConfigOption<Double> SLRU_PROTECTED_SHARE =
      ALL.range(
          key("cache.slru-protected-share").doubleType().defaultValue(DEFAULT.slruProtectedShare()),
          0.01,
          1.0,
          "Part of the pool that policy 'slru' keeps for pages used more than once; 1 as SGLang.");

  public static final ConfigOption<Integer> SESSION_SLOTS =
      ALL.range(
          key("cache.session-slots").intType().defaultValue(100_000),
          1,
          100_000_000,
          "Sessions whose cached pages a TaskManager keeps locked between turns; of more, the pages "
              + "of those used least recently are freed.");

  public static final ConfigOption<Integer> TENANT_SLOTS =
      ALL.range(
          key("cache.session-slots-per-tenant").intType().defaultValue(100_000),
          1,
          100_000_000,
          "Of these, one tenant's.");

  public static final ConfigOption<Double> SESSION_SHARE =
      ALL.range(
          key("cache.session-share").doubleType().defaultValue(1.0),
          0.001,
          1,
          "Part of the KV pool that one session may keep to itself between turns; what is more is "
              + "evicted first.");

  public static final ConfigOption<Double> TENANT_SHARE =
      ALL.range(
          key("cache.tenant-share").doubleType().defaultValue(1.0),
          0.001,
          1,
          "Part of the KV pool that one tenant's sessions may keep to themselves between turns; "
              + "what is more is evicted first.");

  public static final ConfigOption<Boolean> PREFILL_WHEN_IDLE =
      ALL.flag(
          key("cache.prefill-when-idle").booleanType().defaultValue(true),
          "Whether an idle engine computes ahead: what a turn that was announced begins with and no "
              + "tier has, and what any next prompt begins with where the chat template leaves out "
              + "what the model thought.");

  public static final ConfigOption<String> NAMESPACE_KEY =
      ALL.text(
          key("cache.namespace-key").stringType().noDefaultValue(),
          "Secret key of the hash that keeps tenants' pages apart, the same on all TaskManagers; "
              + "best set by its environment variable. Without one, each submission draws its own.");

  public static final ConfigOption<List<String>> SHARED_SYSTEM_PROMPTS =
      ALL.add(
          key("cache.shared-system-prompts").stringType().asList().defaultValues(),
          "tenants, separated by semicolons, or *",
          tenants -> true,
          "Tenants whose system prompts' pages are shared with each other and with sessions without "
              + "a tenant; each learns from times whether others use its system prompt.");

  private CacheConfig() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  /** The prefix cache's options, as the settings say. */
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
        settings.get(PREFILL_WHEN_IDLE));
  }

  /** Which namespaces tenants' pages have, as the settings say. */
  public static TenantNamespaces namespaces(Settings settings) {
    return new TenantNamespaces(
        namespaceKey(settings), new HashSet<>(settings.get(SHARED_SYSTEM_PROMPTS)));
  }

  /** Travels with the job, so that one drawn here is the same on all its TaskManagers. */
  private static NamespaceKey namespaceKey(Settings settings) {
    String secret = settings.get(NAMESPACE_KEY);
    return secret == null ? NamespaceKey.random() : NamespaceKey.of(secret);
  }
}
