/** The command {@code bench speculation}: how much faster replies are with speculation. */
package io.radixflow.lab.bench.speculation;
