/** The commands {@code bench}: models, GPU, engine, pipeline, state and tiers of this machine. */
package io.radixflow.lab.bench;
