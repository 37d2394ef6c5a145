package io.radixflow.operators.flink;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.io.InputStatus;

/**
 * Numbers from zero, whose source ends only when the test says so: while an input ends there are no
 * checkpoints.
 */
public final class HeldNumbers extends NumberSequenceSource {
  private static final long serialVersionUID = 1L;
  private static final Map<String, CompletableFuture<Void>> RELEASED = new ConcurrentHashMap<>();

  private final String name;

  /**
   * @param name distinguishes the source from those of other tests
   */
  public HeldNumbers(String name, long count) {
    super(0, count - 1);
    this.name = name;
  }

  public static void release(String name) {
    released(name).complete(null);
  }

  private static CompletableFuture<Void> released(String name) {
    return RELEASED.computeIfAbsent(name, n -> new CompletableFuture<>());
  }

  @Override
  public Boundedness getBoundedness() {
    return Boundedness.CONTINUOUS_UNBOUNDED;
  }

  @Override
  @SuppressWarnings("unchecked")
  public SourceReader<Long, NumberSequenceSplit> createReader(SourceReaderContext context) {
    SourceReader<Long, NumberSequenceSplit> numbers = super.createReader(context);
    CompletableFuture<Void> released = released(name);
    boolean[] atEnd = new boolean[1];
    return (SourceReader<Long, NumberSequenceSplit>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {SourceReader.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("isAvailable") && atEnd[0]) {
                return released;
              }
              try {
                Object result = method.invoke(numbers, arguments);
                atEnd[0] |= result == InputStatus.END_OF_INPUT;
                return result == InputStatus.END_OF_INPUT && !released.isDone()
                    ? InputStatus.NOTHING_AVAILABLE
                    : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
