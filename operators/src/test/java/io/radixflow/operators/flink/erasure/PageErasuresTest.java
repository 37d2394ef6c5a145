package io.radixflow.operators.flink.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.engine.Engine;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.java.tuple.Tuple2;
import org.junit.jupiter.api.Test;

/** What a checkpoint keeps of erasures that no disk confirms. */
class PageErasuresTest {
  private final List<Tuple2<String, byte[]>> saved = new ArrayList<>();
  private final List<String> asked = new ArrayList<>();

  @SuppressWarnings("unchecked")
  private <T> T of(Class<T> type, java.util.function.BiFunction<String, Object[], Object> calls) {
    return (T)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> calls.apply(method.getName(), arguments));
  }

  private PageErasures erasures(int maxPages) throws Exception {
    ListState<?> state =
        of(
            ListState.class,
            (name, arguments) -> {
              switch (name) {
                case "get" -> {
                  return List.copyOf(saved);
                }
                case "clear" -> saved.clear();
                default -> saved.add((Tuple2<String, byte[]>) arguments[0]);
              }
              return null;
            });
    PageErasures made =
        new PageErasures(of(OperatorStateStore.class, (name, arguments) -> state), maxPages);
    Engine engine =
        of(
            Engine.class,
            (name, arguments) -> {
              asked.add(name);
              return new CompletableFuture<Boolean>();
            });
    made.open(engine, new EngineErasures(() -> true), null, null);
    return made;
  }

  private static FutureTask<byte[]> names(int pages) {
    return new FutureTask<>(() -> new byte[32 * pages]);
  }

  @Test
  void namesThatNobodyHasMadeAreMadeForTheCheckpointAndTakenUpByTheSuccessor() throws Exception {
    PageErasures first = erasures(100);
    first.add(names(3), 5, false);
    first.add(names(2), 2, false);
    first.save();
    assertThat(saved).extracting(each -> each.f1.length).containsExactlyInAnyOrder(96, 64);
    asked.clear();
    PageErasures next = erasures(100);
    assertThat(next.size()).isEqualTo(2);
    assertThat(asked).containsExactly("erase", "erase");
    next.save();
    assertThat(saved).hasSize(2);
  }

  @Test
  void tooManyPagesBecomeAllPages() throws Exception {
    PageErasures first = erasures(10);
    first.add(names(6), 6, false);
    first.add(names(6), 6, false);
    first.save();
    assertThat(asked).containsExactly("erase", "eraseAll");
    assertThat(saved).hasSize(1);
    asked.clear();
    erasures(10);
    assertThat(asked).containsExactly("eraseAll");
  }
}
