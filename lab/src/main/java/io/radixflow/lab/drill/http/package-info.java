/**
 * The drill's HTTP clients: their requests, how they resume broken streams, and the replies that
 * they saw.
 */
package io.radixflow.lab.drill.http;
