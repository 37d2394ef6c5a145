/**
 * The eviction policies, and what the adaptive one learns from the traffic. A new policy is a class
 * that implements {@link io.radixflow.operators.cache.EvictionPolicy} and a name in {@link
 * io.radixflow.operators.cache.policy.EvictionPolicies}.
 */
package io.radixflow.operators.cache.policy;
