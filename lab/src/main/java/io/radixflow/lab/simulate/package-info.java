/**
 * Simulates the radix cache and its tiers without a model, and computes the hits of the optimal
 * policy.
 */
package io.radixflow.lab.simulate;
