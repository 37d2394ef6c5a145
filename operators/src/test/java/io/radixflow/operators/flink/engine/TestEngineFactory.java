package io.radixflow.operators.flink.engine;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Opens engines that a test has registered; serialisable, since it travels in a factory.
 *
 * @param identity names the registration
 */
public record TestEngineFactory(String identity) implements EngineFactory {
  private static final Map<String, Function<EngineDirectory, ServingEngine>> ENGINES =
      new ConcurrentHashMap<>();

  /** An opener of what {@code engines} supplies, one engine an opening. */
  public static TestEngineFactory of(String identity, Supplier<ServingEngine> engines) {
    return at(identity, home -> engines.get());
  }

  /** As {@link #of}, of engines that look at what they find of themselves. */
  public static TestEngineFactory at(
      String identity, Function<EngineDirectory, ServingEngine> engines) {
    ENGINES.put(identity, engines);
    return new TestEngineFactory(identity);
  }

  @Override
  public ServingEngine open(EngineDirectory home) {
    return ENGINES.get(identity).apply(home);
  }
}
