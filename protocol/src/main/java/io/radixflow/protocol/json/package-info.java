/** Reads untrusted JSON and lines within bounds. Errors name the wrong field. */
package io.radixflow.protocol.json;
