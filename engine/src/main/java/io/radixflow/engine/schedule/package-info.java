/**
 * Which requests run next: admission by fair queueing among tenants and by a policy within one,
 * preemption, the rows of a step, and the quarantine of requests that may have ended a process.
 * Engine thread only, but for what says otherwise.
 */
package io.radixflow.engine.schedule;
