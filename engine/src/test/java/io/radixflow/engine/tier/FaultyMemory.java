package io.radixflow.engine.tier;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.Transfer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** A backend whose host memory and whose copies of pages can be broken. */
final class FaultyMemory {
  private final Backend backend;
  private final AtomicInteger copies = new AtomicInteger();
  private volatile HostPages host;
  private volatile int failEvery;
  private volatile boolean held;

  FaultyMemory(Backend delegate) {
    backend =
        proxy(
            Backend.class, delegate, result -> result instanceof KvPool pool ? pool(pool) : result);
  }

  Backend backend() {
    return backend;
  }

  /** Returns a model that is opened on this backend. */
  ServedModel served(ServedModel model) {
    return proxy(
        ServedModel.class,
        model,
        result -> {
          if (result instanceof Backend other) {
            other.close();
            return backend;
          }
          return result;
        });
  }

  /** Fails each n-th copy, of which nothing arrives; 0 for none. */
  void failCopies(int every) {
    failEvery = every;
  }

  /** Lets no copy end, or lets them end again. */
  void hold(boolean on) {
    held = on;
  }

  /** Flips a bit of each page of host memory. */
  void flipBits() {
    for (int page = 0; page < host.pages(); page++) {
      ByteBuffer bytes = host.buffer(page);
      int at = page * 31 % bytes.capacity();
      bytes.put(at, (byte) (bytes.get(at) ^ 1 << page % 8));
    }
  }

  private KvPool pool(KvPool delegate) {
    return (KvPool)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {KvPool.class},
            (proxy, method, arguments) -> {
              boolean copy = method.getName().startsWith("copy");
              if (copy && failEvery > 0 && copies.incrementAndGet() % failEvery == 0) {
                return new Failed();
              }
              Object result = call(delegate, method, arguments);
              if (result instanceof HostPages pages) {
                host = pages;
              }
              return result instanceof Transfer transfer ? new Held(transfer) : result;
            });
  }

  private record Failed() implements Transfer {
    @Override
    public boolean isDone() {
      return true;
    }

    @Override
    public void await() {}

    @Override
    public Throwable failure() {
      return new IllegalStateException("injected");
    }
  }

  private final class Held implements Transfer {
    private final Transfer transfer;

    Held(Transfer transfer) {
      this.transfer = transfer;
    }

    @Override
    public boolean isDone() {
      return !held && transfer.isDone();
    }

    @Override
    public void await() throws InterruptedException {
      transfer.await();
    }

    @Override
    public Throwable failure() {
      return transfer.failure();
    }
  }

  private static <T> T proxy(Class<T> type, T target, UnaryOperator<Object> result) {
    return type.cast(
        Proxy.newProxyInstance(
            FaultyMemory.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> result.apply(call(target, method, arguments))));
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
