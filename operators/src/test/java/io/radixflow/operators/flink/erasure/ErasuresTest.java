package io.radixflow.operators.flink.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.flink.engine.ServingEngine;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.java.tuple.Tuple;
import org.junit.jupiter.api.Test;

/** Tests what a checkpoint keeps of erasures that no disk confirms. */
class ErasuresTest {
  private final List<Tuple> saved = new ArrayList<>();
  private final List<String> asked = new ArrayList<>();

  @SuppressWarnings("unchecked")
  private <T> T of(Class<T> type, java.util.function.BiFunction<String, Object[], Object> calls) {
    return (T)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> calls.apply(method.getName(), arguments));
  }

  private Erasures erasures(int maxPages) throws Exception {
    ListState<?> state =
        of(
            ListState.class,
            (name, arguments) -> {
              switch (name) {
                case "get" -> {
                  return List.copyOf(saved);
                }
                case "clear" -> saved.clear();
                default -> saved.add((Tuple) arguments[0]);
              }
              return null;
            });
    ListState<?> none = of(ListState.class, (name, arguments) -> name.equals("get") ? List.of() : null);
    OperatorStateStore store =
        of(
            OperatorStateStore.class,
            (name, arguments) ->
                ((ListStateDescriptor<?>) arguments[0]).getName().startsWith("page") ? state : none);
    Engine engine =
        of(
            Engine.class,
            (name, arguments) -> {
              asked.add(name);
              return new CompletableFuture<Boolean>();
            });
    return new Erasures(store, new ServingEngine(engine, null), null, null, null, maxPages);
  }

  private static Supplier<byte[]> names(int pages) {
    return () -> new byte[32 * pages];
  }

  @Test
  void aCheckpointMakesNamesThatNoEngineHasMadeAndTheSuccessorErasesThem() throws Exception {
    Erasures first = erasures(100);
    first.erasePages(names(3), 5, false);
    first.erasePages(names(2), 2, false);
    first.save();
    assertThat(saved).extracting(each -> ((byte[]) each.getField(2)).length).containsExactlyInAnyOrder(96, 64);
    asked.clear();
    Erasures next = erasures(100);
    assertThat(next.pendingPages()).isEqualTo(2);
    assertThat(asked).containsExactly("erase", "erase");
    next.save();
    assertThat(saved).hasSize(2);
  }

  @Test
  void tooManyPagesBecomeAllPages() throws Exception {
    Erasures first = erasures(10);
    first.erasePages(names(6), 6, false);
    first.erasePages(names(6), 6, false);
    first.save();
    assertThat(asked).containsExactly("erase", "eraseAll");
    assertThat(saved).hasSize(1);
    asked.clear();
    erasures(10);
    assertThat(asked).containsExactly("eraseAll");
  }
}
