/**
 * The console: web pages for users of the gateway. The pages are static files from the class path.
 * They get all data through the gateway's API with the user's API key.
 */
package io.radixflow.gateway.console;
