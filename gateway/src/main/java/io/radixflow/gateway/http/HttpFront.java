package io.radixflow.gateway.http;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.models.io.RegularFiles;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** The HTTP server. It serves one address with several event loops. */
public final class HttpFront implements AutoCloseable {

  private static final int MAX_LOOPS = 4;
  private static final int IDLE_MINUTES = 30;
  private static final long RELOAD_MILLIS = 1000;

  private final Vertx vertx;
  private final Workers workers;
  private final Tracing tracing;
  private final URI uri;

  private HttpFront(Vertx vertx, Workers workers, Tracing tracing, URI uri) {
    this.vertx = vertx;
    this.workers = workers;
    this.tracing = tracing;
    this.uri = uri;
  }

  /**
   * Starts the server.
   *
   * @throws IOException if the address cannot be used; the message says what to do
   */
  public static HttpFront start(Settings settings, Routes routes, HttpMetrics metrics)
      throws IOException {
    InetAddress address = address(settings);
    Access access = Access.of(settings, address);
    HttpServerOptions options = options(settings);
    int loops = settings.get(GatewayConfig.EVENT_LOOPS);
    if (loops == 0) {
      loops = Math.min(MAX_LOOPS, Runtime.getRuntime().availableProcessors());
    }
    Vertx vertx =
        Uncaught.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(loops)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(2)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                    new FileSystemOptions()
                        .setFileCachingEnabled(false)
                        .setClassPathResolvingEnabled(false)));
    int port = settings.get(GatewayConfig.PORT);
    Tracing tracing = Tracing.of(settings, System.getenv());
    Workers workers = new Workers(SharedConfig.tenantWeights(settings));
    Dispatcher dispatcher =
        new Dispatcher(routes, HttpLimits.of(settings), access, workers, metrics, tracing);
    // several event loops share a port; a negative port means any free port
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
                          .invalidRequestHandler(dispatcher::invalid)
                          .connectionHandler(dispatcher::connected)
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
      workers.close();
      tracing.close();
      throw cannotListen(e.getCause(), address, port);
    }
    vertx.setPeriodic(RELOAD_MILLIS, ticked -> vertx.executeBlocking(() -> reload(access)));
    boolean six = address.getHostAddress().contains(":");
    String host = six ? "[" + address.getHostAddress() + "]" : address.getHostAddress();
    String scheme = options.isSsl() ? "https" : "http";
    return new HttpFront(
        vertx, workers, tracing, URI.create(scheme + "://" + host + ":" + actual[0]));
  }

  private static Void reload(Access access) {
    access.reload();
    return null;
  }

  private static void keep(int[] actual, HttpServer server) {
    synchronized (actual) {
      actual[0] = server.actualPort();
    }
  }

  private static HttpServerOptions options(Settings settings) throws IOException {
    int headers = (int) Math.min(1 << 24, settings.get(GatewayConfig.MAX_HEADERS).getBytes());
    HttpServerOptions options =
        new HttpServerOptions()
            .setTcpNoDelay(true)
            .setHttp2ClearTextEnabled(false)
            .setMaxHeaderSize(headers)
            .setMaxInitialLineLength(headers)
            .setIdleTimeout(IDLE_MINUTES)
            .setIdleTimeoutUnit(TimeUnit.MINUTES);
    options.getInitialSettings().setMaxHeaderListSize(headers);
    String certificate = settings.get(GatewayConfig.TLS_CERTIFICATE);
    String key = settings.get(GatewayConfig.TLS_KEY);
    if ((certificate == null) != (key == null)) {
      throw new IOException("gateway.tls-certificate and gateway.tls-key need each other");
    }
    if (certificate != null) {
      options
          .setSsl(true)
          .setUseAlpn(true)
          .setKeyCertOptions(
              new PemKeyCertOptions().setCertValue(pem(certificate)).setKeyValue(pem(key)));
    }
    return options;
  }

  private static Buffer pem(String file) throws IOException {
    return Buffer.buffer(Files.readAllBytes(RegularFiles.require(Path.of(file))));
  }

  private static InetAddress address(Settings settings) throws IOException {
    String host = settings.get(GatewayConfig.HOST);
    try {
      return InetAddress.getByName(host);
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

  /** Returns the address for clients. */
  public URI uri() {
    return uri;
  }

  /** Closes all connections, and returns when all event loops have ended. */
  @Override
  public void close() {
    close(vertx);
    workers.close();
    tracing.close();
  }

  private static void close(Vertx vertx) {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }
}
