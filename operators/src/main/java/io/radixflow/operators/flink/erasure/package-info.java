/**
 * What a subtask has to erase below the device, until all files that have it are without it, and
 * the keys of tenants' pages.
 */
package io.radixflow.operators.flink.erasure;
