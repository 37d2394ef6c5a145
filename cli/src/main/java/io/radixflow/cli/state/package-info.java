/** Reads savepoints of the job, and writes made-up ones for measurements. */
package io.radixflow.cli.state;
