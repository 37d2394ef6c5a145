/**
 * Decides which requests run next: admission by fair queueing among tenants and by a policy within
 * a tenant, preemption, the rows of a step, and the quarantine of requests that may have ended a
 * process. Engine thread only, unless a class says otherwise.
 */
package io.radixflow.engine.schedule;
