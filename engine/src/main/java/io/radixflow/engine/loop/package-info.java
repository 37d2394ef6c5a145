/**
 * The engine thread with its intake of prompts, its steps in flight and its replies, and the work
 * ahead for next turns while the engine is idle. {@link
 * io.radixflow.engine.loop.ContinuousBatchingEngine} creates and connects these parts.
 */
package io.radixflow.engine.loop;
