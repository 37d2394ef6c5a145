/** Settings: Flink options, where their values come from, and how they are checked. */
package io.radixflow.client.config;
