/** The command {@code bench speculation}: how much quicker replies come with speculation. */
package io.radixflow.lab.bench.speculation;
