/** Erasures of pages and tenants that outlive a failure of the job. */
package io.radixflow.operators.flink.erasure;
