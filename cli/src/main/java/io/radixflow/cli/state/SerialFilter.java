package io.radixflow.cli.state;

import java.io.ObjectInputFilter;

/**
 * Keeps files that look like state from running code: Flink reads parts of a savepoint as
 * serialized Java objects, and other libraries have classes that run what such objects say.
 */
final class SerialFilter {

  private static final String ALLOWED =
      "java.base/*;org.apache.flink.**;org.apache.kafka.**;io.radixflow.**;!*";

  private SerialFilter() {}

  /** Lets this process read objects of Java, Flink, Kafka and Radixflow alone, from now on. */
  static synchronized void install() {
    if (ObjectInputFilter.Config.getSerialFilter() == null) {
      ObjectInputFilter.Config.setSerialFilter(ObjectInputFilter.Config.createFilter(ALLOWED));
    }
  }
}
