/**
 * The engine thread and what feeds it: intake of prompts, steps in flight, replies, and the work
 * done ahead for next turns while the engine is idle. {@link
 * io.radixflow.engine.loop.ContinuousBatchingEngine} puts it all together.
 */
package io.radixflow.engine.loop;
