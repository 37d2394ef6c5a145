/** Who may use the gateway: API keys, what they allow, and their limits. */
package io.radixflow.gateway.auth;
