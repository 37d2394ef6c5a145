/**
 * Breaks a cluster of processes while many conversations run, and proves from the topics alone that
 * nothing was lost, doubled or changed.
 */
package io.radixflow.lab.drill;
