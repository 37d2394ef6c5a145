package io.radixflow.cli.state;

import java.io.ObjectInputFilter;

/**
 * Keeps manipulated files from running code. Flink reads parts of a savepoint as serialized Java
 * objects, and some classes of other libraries run code when they are deserialized.
 */
final class SerialFilter {

  private static final String ALLOWED =
      "java.base/*;org.apache.flink.**;org.apache.kafka.**;io.radixflow.**;!*";

  private SerialFilter() {}

  /**
   * From now on, lets this process deserialize only objects of Java, Flink, Kafka and Radixflow.
   */
  static synchronized void install() {
    if (ObjectInputFilter.Config.getSerialFilter() == null) {
      ObjectInputFilter.Config.setSerialFilter(ObjectInputFilter.Config.createFilter(ALLOWED));
    }
  }
}
