package io.radixflow.operators.flink;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Opens engines that a test has registered; serialisable, since it travels in a factory.
 *
 * @param identity names the registration
 */
record TestOpener(String identity) implements EngineOpener {
  private static final Map<String, Function<EngineHome, ServingEngine>> ENGINES =
      new ConcurrentHashMap<>();

  /** An opener of what {@code engines} supplies, one engine an opening. */
  static TestOpener of(String identity, Supplier<ServingEngine> engines) {
    return at(identity, home -> engines.get());
  }

  /** As {@link #of}, of engines that look at what they find of themselves. */
  static TestOpener at(String identity, Function<EngineHome, ServingEngine> engines) {
    ENGINES.put(identity, engines);
    return new TestOpener(identity);
  }

  @Override
  public ServingEngine open(EngineHome home) {
    return ENGINES.get(identity).apply(home);
  }
}
