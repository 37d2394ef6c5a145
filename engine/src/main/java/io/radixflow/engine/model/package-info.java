/**
 * The models that an engine serves: loaded from files, or simulated.
 *
 * <p>The simulated model is the {@code Backend} seam without a neural network. It is asynchronous,
 * has no host address of its pool, and computes the next token from a hash of the pages that it
 * reads. So a wrong page gives a wrong token. Engines, caches and jobs are tested on it in
 * milliseconds.
 */
package io.radixflow.engine.model;
