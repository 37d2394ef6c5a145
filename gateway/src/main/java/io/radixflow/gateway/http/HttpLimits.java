package io.radixflow.gateway.http;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.GatewayConfig.UnreadableParts;
import io.radixflow.client.config.Settings;

/**
 * Limits on requests and responses.
 *
 * @param maxBody bytes of a request's body
 * @param bodyMemory total bytes of the bodies that are being received
 * @param maxConnections maximum number of open connections
 * @param requestMillis time for a request's headers, and again for its body
 * @param clientBuffer characters of a reply that may wait for a slow client
 * @param keepAliveMillis time without an event after which a stream gets a comment
 * @param strict whether unknown fields are refused
 * @param refuseParts whether parts of messages that no model can read are refused
 */
record HttpLimits(
    int maxBody,
    long bodyMemory,
    int maxConnections,
    long requestMillis,
    int clientBuffer,
    long keepAliveMillis,
    boolean strict,
    boolean refuseParts) {

  static HttpLimits of(Settings settings) {
    return new HttpLimits(
        (int) Math.min(Integer.MAX_VALUE, settings.get(GatewayConfig.MAX_BODY).getBytes()),
        settings.get(GatewayConfig.BODY_MEMORY).getBytes(),
        settings.get(GatewayConfig.MAX_CONNECTIONS),
        Math.max(1, settings.get(GatewayConfig.REQUEST_TIMEOUT).toMillis()),
        settings.get(GatewayConfig.CLIENT_BUFFER),
        settings.get(GatewayConfig.KEEP_ALIVE).toMillis(),
        settings.get(GatewayConfig.STRICT),
        settings.get(GatewayConfig.UNREADABLE_PARTS) == UnreadableParts.REFUSE);
  }
}
