/** Reads untrusted JSON and lines within bounds; says by name what is wrong. */
package io.radixflow.jobs.json;
