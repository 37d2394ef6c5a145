package io.radixflow.engine;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * A backend whose tickets refuse on demand to show their tokens: a defect, not a failed step. And
 * whose pool, on demand, cannot be emptied afterwards.
 */
public final class FaultyBackend {
  private volatile boolean broken;
  private volatile boolean poolBroken;
  private final Backend backend;

  public FaultyBackend(Backend delegate) {
    backend =
        (Backend)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Backend.class},
                (proxy, method, arguments) -> {
                  Object result = call(delegate, method, arguments);
                  if (result instanceof KvPool pool) {
                    return wrap(pool);
                  }
                  return result instanceof StepTicket ticket ? wrap(ticket) : result;
                });
  }

  public Backend backend() {
    return backend;
  }

  public void breakTickets(boolean on) {
    broken = on;
  }

  public void breakPool() {
    poolBroken = true;
  }

  private Object wrap(KvPool pool) {
    return Proxy.newProxyInstance(
        getClass().getClassLoader(),
        new Class<?>[] {KvPool.class},
        (proxy, method, arguments) -> {
          if (poolBroken && method.getName().equals("pages")) {
            throw new OutOfMemoryError("no room for tables");
          }
          return call(pool, method, arguments);
        });
  }

  private Object wrap(StepTicket ticket) {
    return Proxy.newProxyInstance(
        getClass().getClassLoader(),
        new Class<?>[] {StepTicket.class},
        (proxy, method, arguments) -> {
          if (broken
              && method.getName().equals("token")
              && Thread.currentThread().getName().equals("radixflow-engine")) {
            throw new IllegalStateException("broken ticket");
          }
          return call(ticket, method, arguments);
        });
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      method.setAccessible(true);
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
