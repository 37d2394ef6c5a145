package io.radixflow.operators.flink;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.io.InputStatus;

/** Numbers from zero, each of which comes when the test lets it; nothing waits for one. */
public final class GatedNumbers extends NumberSequenceSource {
  private static final long serialVersionUID = 1L;
  private static final Map<String, Gate> GATES = new ConcurrentHashMap<>();

  private final String name;

  /** The number of numbers that may come. */
  private static final class Gate {
    private int open;
    private CompletableFuture<Void> opened = new CompletableFuture<>();

    synchronized void open(int count) {
      open += count;
      opened.complete(null);
    }

    synchronized boolean isOpen() {
      if (open == 0 && opened.isDone()) {
        opened = new CompletableFuture<>();
      }
      return open > 0;
    }

    synchronized void passed() {
      open--;
    }

    synchronized CompletableFuture<Void> opened() {
      return opened;
    }
  }

  /**
   * @param name distinguishes the source from those of other tests
   */
  public GatedNumbers(String name, long count) {
    super(0, count - 1);
    this.name = name;
  }

  /** Lets more numbers come. */
  public static void allow(String name, int count) {
    gate(name).open(count);
  }

  private static Gate gate(String name) {
    return GATES.computeIfAbsent(name, n -> new Gate());
  }

  @Override
  @SuppressWarnings("unchecked")
  public SourceReader<Long, NumberSequenceSplit> createReader(SourceReaderContext context) {
    SourceReader<Long, NumberSequenceSplit> numbers = super.createReader(context);
    Gate gate = gate(name);
    boolean[] waits = new boolean[1];
    return (SourceReader<Long, NumberSequenceSplit>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {SourceReader.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("pollNext")) {
                waits[0] = !gate.isOpen();
                if (waits[0]) {
                  return InputStatus.NOTHING_AVAILABLE;
                }
                arguments[0] = counting((ReaderOutput<Long>) arguments[0], gate);
              } else if (method.getName().equals("isAvailable") && waits[0]) {
                return gate.opened();
              }
              try {
                return method.invoke(numbers, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** A poll gives a number or none. */
  @SuppressWarnings("unchecked")
  private ReaderOutput<Long> counting(ReaderOutput<Long> output, Gate gate) {
    return (ReaderOutput<Long>)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ReaderOutput.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("collect")) {
                gate.passed();
              }
              return method.invoke(output, arguments);
            });
  }
}
