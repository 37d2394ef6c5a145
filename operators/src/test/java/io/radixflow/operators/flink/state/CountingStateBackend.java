package io.radixflow.operators.flink.state;

import java.io.Serial;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.lang3.ClassUtils;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;

/** A heap state backend that counts the calls of each keyed state, for a test of one thread. */
final class CountingStateBackend implements StateBackend {
  @Serial private static final long serialVersionUID = 1L;

  /** Calls by {@code STATE.METHOD}; static because Flink works on copies of a backend. */
  private static final Map<String, Integer> CALLS = new TreeMap<>();

  private final StateBackend heap = new HashMapStateBackend();

  /** Starts to count at zero. */
  static void reset() {
    CALLS.clear();
  }

  /** Returns how often a method of a state was called since the last reset. */
  static int calls(String state, String method) {
    return CALLS.getOrDefault(state + "." + method, 0);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
      KeyedStateBackendParameters<K> parameters) throws Exception {
    CheckpointableKeyedStateBackend<K> backend = heap.createKeyedStateBackend(parameters);
    return (CheckpointableKeyedStateBackend<K>)
        proxy(
            backend,
            (proxy, method, arguments) -> {
              Object result = invoke(backend, method, arguments);
              boolean state = method.getName().equals("getPartitionedState");
              return state ? counted((StateDescriptor<?, ?>) arguments[2], result) : result;
            });
  }

  private static Object counted(StateDescriptor<?, ?> descriptor, Object state) {
    return proxy(
        state,
        (proxy, method, arguments) -> {
          CALLS.merge(descriptor.getName() + "." + method.getName(), 1, Integer::sum);
          return invoke(state, method, arguments);
        });
  }

  private static Object proxy(Object target, InvocationHandler handler) {
    return Proxy.newProxyInstance(
        CountingStateBackend.class.getClassLoader(),
        ClassUtils.getAllInterfaces(target.getClass()).toArray(Class<?>[]::new),
        handler);
  }

  private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Override
  public OperatorStateBackend createOperatorStateBackend(OperatorStateBackendParameters parameters)
      throws Exception {
    return heap.createOperatorStateBackend(parameters);
  }
}
