package io.radixflow.cli.flink;

import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.io.network.netty.InboundChannelHandlerFactory;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelHandler;

/**
 * Puts a {@link WebGuard} before Flink's web port where the settings of {@link LoopbackFlink} are
 * in use. Flink finds this class as a service.
 */
public final class WebGuardFactory implements InboundChannelHandlerFactory {

  @Override
  public int priority() {
    return 0;
  }

  @Override
  public Optional<ChannelHandler> createHandler(
      Configuration configuration, Map<String, String> responseHeaders) {
    return configuration.getOptional(LoopbackFlink.WEB_ACCESS).map(WebGuard::new);
  }
}
