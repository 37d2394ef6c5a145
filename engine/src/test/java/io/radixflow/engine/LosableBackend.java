package io.radixflow.engine;

import static io.radixflow.engine.Patience.await;

import io.radixflow.kernels.device.Backend;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** A backend whose device can be lost. */
public final class LosableBackend {
  private final Backend backend;
  private volatile boolean lost;

  public LosableBackend(Backend delegate) {
    backend =
        (Backend)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Backend.class},
                (proxy, method, arguments) -> {
                  if (lost && method.getName().equals("submit")) {
                    throw new IllegalStateException("gone");
                  }
                  if (method.getName().equals("isUsable")) {
                    return !lost;
                  }
                  try {
                    method.setAccessible(true);
                    return method.invoke(delegate, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
  }

  /** Returns the backend. */
  public Backend backend() {
    return backend;
  }

  /** Loses the device without notice. */
  public void lose() {
    lost = true;
  }

  /** Loses the device and waits until its engine knows. */
  public void lose(Engine engine) {
    lost = true;
    try (EngineClient client = new EngineClient(engine)) {
      client.submit(Engines.letters(0, 20), 5);
      await().until(() -> engine.lost() != null);
    }
  }
}
