/**
 * A model as an engine serves it: loaded from files, or simulated.
 *
 * <p>The simulated model is the {@code Backend} seam without a neural network. It is asynchronous,
 * shows no host address, and draws its next token from a hash of the page contents that it reads,
 * so that a wrong page gives a wrong token. Engines, caches and jobs are tested on it in
 * milliseconds.
 */
package io.radixflow.engine.model;
