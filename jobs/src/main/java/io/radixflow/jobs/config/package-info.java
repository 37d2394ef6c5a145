/** The options of the job, and the table of all options. */
package io.radixflow.jobs.config;
