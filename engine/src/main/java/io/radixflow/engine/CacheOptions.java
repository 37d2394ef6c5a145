package io.radixflow.engine;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.cache.session.SessionBounds;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;

/**
 * Which prefix cache an engine has. Immutable.
 *
 * @param caching which pages requests share
 * @param evictionPolicy one of {@link EvictionPolicies#names()}
 * @param slruProtectedShare the largest part of the pool that SLRU protects; above 0 and at most 1
 * @param sessions limits on the pages that sessions keep between turns
 * @param prefillWhenIdle whether an idle engine computes the beginning of the next prompt of a
 *     session
 * @param windowShare part of the pool's pages, above 0 and at most 1, that can have a window part
 *     at the same time; used only for models with attention windows and without tiers
 */
@PublicApi
public record CacheOptions(
    PrefixCaching caching,
    String evictionPolicy,
    double slruProtectedShare,
    SessionBounds sessions,
    boolean prefillWhenIdle,
    double windowShare)
    implements Serializable {

  /** A radix tree, evicted by the default policy. */
  public static final CacheOptions DEFAULT =
      new CacheOptions(
          PrefixCaching.RADIX, EvictionPolicies.DEFAULT, 0.8, SessionBounds.DEFAULT, true, 0.5);

  /** Options with the defaults for sessions. */
  public CacheOptions(PrefixCaching caching, String evictionPolicy, double slruProtectedShare) {
    this(caching, evictionPolicy, slruProtectedShare, SessionBounds.DEFAULT, true, 0.5);
  }

  public CacheOptions {
    EvictionPolicies.checkName(evictionPolicy);
    if (!(slruProtectedShare > 0 && slruProtectedShare <= 1)) {
      throw new IllegalArgumentException(
          "SLRU's protected share is " + slruProtectedShare + "; it must be above 0 and at most 1");
    }
    if (!(windowShare > 0 && windowShare <= 1)) {
      throw new IllegalArgumentException(
          "the share of window parts is " + windowShare + "; it must be above 0 and at most 1");
    }
  }

  /** Returns these options with another kind of caching. */
  public CacheOptions withCaching(PrefixCaching value) {
    return new CacheOptions(
        value, evictionPolicy, slruProtectedShare, sessions, prefillWhenIdle, windowShare);
  }

  /** Returns these options with other bounds on sessions. */
  public CacheOptions withSessions(SessionBounds value) {
    return new CacheOptions(
        caching, evictionPolicy, slruProtectedShare, value, prefillWhenIdle, windowShare);
  }

  /** Returns these options with idle prefill switched on or off. */
  public CacheOptions withPrefillWhenIdle(boolean value) {
    return new CacheOptions(
        caching, evictionPolicy, slruProtectedShare, sessions, value, windowShare);
  }

  /** Returns these options with another share of window parts. */
  public CacheOptions withWindowShare(double value) {
    return new CacheOptions(
        caching, evictionPolicy, slruProtectedShare, sessions, prefillWhenIdle, value);
  }

  /** Creates an empty cache over the pages of an allocator. */
  public RadixCache open(PageAllocator allocator, int pageTokens) {
    String policy = caching == PrefixCaching.RADIX ? evictionPolicy : "lru";
    return new RadixCache(
        caching,
        allocator,
        pageTokens,
        EvictionPolicies.of(policy, allocator.total(), slruProtectedShare));
  }
}
