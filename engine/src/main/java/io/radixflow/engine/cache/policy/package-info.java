/**
 * The eviction policies, and what the adaptive policy learns from the traffic. A new policy needs a
 * class that implements {@link io.radixflow.engine.cache.EvictionPolicy} and a name in {@link
 * io.radixflow.engine.cache.policy.EvictionPolicies}.
 */
package io.radixflow.engine.cache.policy;
