/**
 * Benchmarks of the prefix cache. Their classes and parameters are public because JMH needs that.
 */
package io.radixflow.lab.jmh;
