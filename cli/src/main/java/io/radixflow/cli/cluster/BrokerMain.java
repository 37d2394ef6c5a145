package io.radixflow.cli.cluster;

import io.radixflow.cli.local.LocalBroker;
import java.io.IOException;
import java.nio.file.Path;

/** A broker in its own process; runs until the process is asked to end. */
final class BrokerMain {

  private BrokerMain() {}

  /**
   * Starts a broker.
   *
   * @param arguments the directory of its data, and its port on loopback
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    LocalBroker broker = LocalBroker.start(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
    Runtime.getRuntime().addShutdownHook(new Thread(broker::close, "stop the broker"));
    Thread.currentThread().join();
  }
}
