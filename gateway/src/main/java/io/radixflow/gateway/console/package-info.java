/**
 * The console: web pages that people use the gateway with. The pages are static files from the
 * class path; all data comes to them over the gateway's API, with the reader's API key.
 */
package io.radixflow.gateway.console;
