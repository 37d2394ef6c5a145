package io.radixflow.operators.flink;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Opens engines that a test has registered; serialisable, since it travels in a factory.
 *
 * @param identity names the registration
 */
record TestOpener(String identity) implements EngineOpener {
  private static final Map<String, Supplier<ServingEngine>> ENGINES = new ConcurrentHashMap<>();

  /** An opener of what {@code engines} supplies, one engine an opening. */
  static TestOpener of(String identity, Supplier<ServingEngine> engines) {
    ENGINES.put(identity, engines);
    return new TestOpener(identity);
  }

  @Override
  public ServingEngine open(Path crashJournal) {
    return ENGINES.get(identity).get();
  }
}
