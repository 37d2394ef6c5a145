/**
 * The erasures below the device that a subtask has not completed, and the keys of tenants' pages.
 */
package io.radixflow.operators.flink.erasure;
