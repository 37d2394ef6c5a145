/**
 * The parts that all APIs share: the session and the options of a request, the models of the
 * server, and the start of turns. The packages of the APIs define their field names and forms.
 */
package io.radixflow.gateway.api;
