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

  /** Returns a factory that takes a new engine from {@code engines} for each lease. */
  public static TestEngineFactory of(String identity, Supplier<ServingEngine> engines) {
    return at(identity, directory -> engines.get());
  }

  /** Returns a factory of engines that look at the directory they are opened in. */
  public static TestEngineFactory at(
      String identity, Function<EngineDirectory, ServingEngine> engines) {
    ENGINES.put(identity, engines);
    return new TestEngineFactory(identity);
  }

  @Override
  public ServingEngine open(EngineDirectory directory) {
    return ENGINES.get(identity).apply(directory);
  }
}
