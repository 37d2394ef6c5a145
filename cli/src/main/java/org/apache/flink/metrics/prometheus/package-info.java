/** Flink's Prometheus reporter, bound to loopback. */
package org.apache.flink.metrics.prometheus;
