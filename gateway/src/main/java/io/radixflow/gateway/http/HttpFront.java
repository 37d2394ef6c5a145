package io.radixflow.gateway.http;

import io.radixflow.jobs.config.GatewayConfig;
import io.radixflow.jobs.config.Settings;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** The HTTP server: it listens on one address with several event loops, and serves routes. */
public final class HttpFront implements AutoCloseable {

  private static final int MAX_LOOPS = 4;
  private static final int IDLE_MINUTES = 30;

  private final Vertx vertx;
  private final URI uri;

  private HttpFront(Vertx vertx, URI uri) {
    this.vertx = vertx;
    this.uri = uri;
  }

  /**
   * Starts to listen.
   *
   * @throws IOException if the address cannot be used; the message says what to do
   */
  public static HttpFront start(Settings settings, Routes routes) throws IOException {
    InetAddress address = address(settings);
    int loops = settings.get(GatewayConfig.EVENT_LOOPS);
    if (loops == 0) {
      loops = Math.min(MAX_LOOPS, Runtime.getRuntime().availableProcessors());
    }
    Vertx vertx =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(loops)
                .setWorkerPoolSize(2)
                .setInternalBlockingPoolSize(2)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setFileCachingEnabled(false)
                        .setClassPathResolvingEnabled(false)));
    int port = settings.get(GatewayConfig.PORT);
    Dispatcher dispatcher = new Dispatcher(routes, HttpLimits.of(settings));
    HttpServerOptions options = options(settings);
    // servers of several event loops share a port; a negative one stands for one that is free
    InetSocketAddress socket = new InetSocketAddress(address, port);
    SocketAddress listen =
        port == 0
            ? SocketAddress.sharedRandomPort(1, address.getHostAddress())
            : SocketAddress.inetSocketAddress(socket);
    int[] actual = new int[1];
    try {
      vertx
          .deployVerticle(
              () ->
                  new VerticleBase() {
                    @Override
                    public Future<?> start() {
                      return vertx
                          .createHttpServer(options)
                          .requestHandler(dispatcher)
                          .listen(listen)
                          .onSuccess(server -> keep(actual, server));
                    }
                  },
              new DeploymentOptions().setInstances(loops))
          .toCompletionStage()
          .toCompletableFuture()
          .join();
    } catch (CompletionException e) {
      close(vertx);
      throw cannotListen(e.getCause(), address, port);
    }
    boolean six = address.getHostAddress().contains(":");
    String host = six ? "[" + address.getHostAddress() + "]" : address.getHostAddress();
    return new HttpFront(vertx, URI.create("http://" + host + ":" + actual[0]));
  }

  private static void keep(int[] actual, HttpServer server) {
    synchronized (actual) {
      actual[0] = server.actualPort();
    }
  }

  private static HttpServerOptions options(Settings settings) {
    int headers = (int) Math.min(1 << 24, settings.get(GatewayConfig.MAX_HEADERS).getBytes());
    return new HttpServerOptions()
        .setTcpNoDelay(true)
        .setMaxHeaderSize(headers)
        .setMaxInitialLineLength(headers)
        .setIdleTimeout(IDLE_MINUTES)
        .setIdleTimeoutUnit(TimeUnit.MINUTES);
  }

  /** Any network reaches an address that is not of this machine alone. */
  private static InetAddress address(Settings settings) throws IOException {
    String host = settings.get(GatewayConfig.HOST);
    try {
      InetAddress address = InetAddress.getByName(host);
      if (!address.isLoopbackAddress() && !settings.get(GatewayConfig.ALLOW_ANONYMOUS)) {
        throw new IOException(
            "gateway.host is "
                + host
                + ", which other machines reach, and there are no API keys: keep 127.0.0.1, or say"
                + " gateway.allow-anonymous=true if everyone who reaches it may use it");
      }
      return address;
    } catch (UnknownHostException e) {
      throw new IOException("gateway.host is " + host + ", which has no address", e);
    }
  }

  private static IOException cannotListen(Throwable cause, InetAddress address, int port) {
    String where = address.getHostAddress() + ":" + port;
    String why =
        cause instanceof BindException
            ? where + " is taken, or not this machine's: choose another port with gateway.port"
            : "cannot listen on " + where + ": " + cause.getMessage();
    return new IOException("the gateway did not start: " + why, cause);
  }

  /** The address that clients reach. */
  public URI uri() {
    return uri;
  }

  /** Ends all connections, and returns when no event loop is left. */
  @Override
  public void close() {
    close(vertx);
  }

  private static void close(Vertx vertx) {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
