/**
 * Commands that talk to a running job or read its state: send, tail, tiers, state, cache content.
 */
package io.radixflow.cli.command.topic;
