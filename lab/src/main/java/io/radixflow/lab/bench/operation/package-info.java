/** The commands {@code cache bench} and {@code grammar bench}: how long single operations take. */
package io.radixflow.lab.bench.operation;
