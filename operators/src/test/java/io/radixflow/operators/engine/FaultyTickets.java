package io.radixflow.operators.engine;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.StepTicket;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** A backend whose tickets, if told, refuse to show their tokens: a defect, not a failed step. */
final class FaultyTickets {
  private volatile boolean broken;
  private final Backend backend;

  FaultyTickets(Backend delegate) {
    backend =
        (Backend)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Backend.class},
                (proxy, method, arguments) -> {
                  Object result = call(delegate, method, arguments);
                  return result instanceof StepTicket ticket ? wrap(ticket) : result;
                });
  }

  Backend backend() {
    return backend;
  }

  void breakTickets(boolean on) {
    broken = on;
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
