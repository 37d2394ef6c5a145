package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what an engine leaves when it ends. */
@Timeout(180)
class EngineCloseTest {
  private final List<String> closed = new ArrayList<>();

  /** Returns a proxy that records that it was closed, and then fails if it is a pool. */
  private <T> T watched(Class<T> type, T target) {
    return type.cast(
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object result;
              try {
                method.setAccessible(true);
                result = method.invoke(target, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
              if (method.getName().equals("close")) {
                closed.add(type.getSimpleName());
                if (target instanceof KvPool) {
                  throw new IllegalStateException("injected");
                }
              }
              return result instanceof KvPool pool ? watched(KvPool.class, pool) : result;
            }));
  }

  @Test
  void theBackendIsClosedThoughItsPagesDoNotClose() {
    SimModel model = SimModel.open(SimOptions.DEFAULT);
    Backend backend = watched(Backend.class, model.openBackend(DeviceOptions.DEFAULT));

    ContinuousBatchingEngine.open(backend, model.tokenizer(), EngineOptions.DEFAULT).close();

    assertThat(closed).containsExactly("KvPool", "Backend");
  }
}
