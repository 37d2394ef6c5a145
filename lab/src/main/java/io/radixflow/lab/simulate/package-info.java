/**
 * Hit rates of recorded traffic: the radix cache and its tiers without a model, and the optimal
 * policy.
 */
package io.radixflow.lab.simulate;
