/** The drill's HTTP clients: what they ask, how they resume what broke, and what they heard. */
package io.radixflow.lab.drill.http;
