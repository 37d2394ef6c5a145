/** Decides who may use the gateway: API keys, their rights and their limits. */
package io.radixflow.gateway.auth;
