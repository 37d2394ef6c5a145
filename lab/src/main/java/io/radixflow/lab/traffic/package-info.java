/**
 * Generates conversations: a {@link io.radixflow.lab.traffic.Script} gives turns, a {@link
 * io.radixflow.lab.traffic.Driver} sends them to a {@link io.radixflow.lab.traffic.Target} and
 * waits for the replies.
 */
package io.radixflow.lab.traffic;
