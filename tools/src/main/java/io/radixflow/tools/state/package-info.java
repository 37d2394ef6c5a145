/** What savepoints of the job hold: read, and made up for measurements. */
package io.radixflow.tools.state;
