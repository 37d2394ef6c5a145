/**
 * Breaks a cluster of processes while many conversations run, and proves only from the topics that
 * nothing was lost, doubled or changed.
 */
package io.radixflow.lab.drill;
