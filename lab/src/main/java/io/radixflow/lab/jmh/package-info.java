/**
 * Benchmarks of the prefix cache and of grammars. Their classes and parameters are public because
 * JMH needs that.
 */
package io.radixflow.lab.jmh;
