/** Hit rates of the radix cache and its tiers for recorded traffic, as tables, JSON and charts. */
package io.radixflow.lab.hitrates;
