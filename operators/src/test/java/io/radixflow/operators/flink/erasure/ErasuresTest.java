package io.radixflow.operators.flink.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.operators.flink.engine.EngineTiers;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.erasure.Erasures.Erasure;
import io.radixflow.operators.flink.erasure.Erasures.What;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.util.function.ThrowingRunnable;
import org.junit.jupiter.api.Test;

/** Tests what a checkpoint keeps of erasures, and what other subtasks get of them. */
class ErasuresTest {
  private final Map<String, List<Tuple>> saved = new HashMap<>();
  private final List<String> asked = new ArrayList<>();
  private final List<OperatorEvent> sent = new ArrayList<>();
  private CompletableFuture<Boolean> answer = new CompletableFuture<>();
  private final OperatorStateStore store =
      of(
          OperatorStateStore.class,
          (name, arguments) -> list(saved(((ListStateDescriptor<?>) arguments[0]).getName())));
  private final ServingEngine engine =
      new ServingEngine(
          of(
              Engine.class,
              (name, arguments) -> {
                asked.add(name);
                return answer;
              }),
          null,
          new EngineTiers() {
            private final TenantKeys keys = new TenantKeys();

            @Override
            public TenantKeys keys() {
              return keys;
            }
          });

  @SuppressWarnings("unchecked")
  private <T> T of(Class<T> type, BiFunction<String, Object[], Object> calls) {
    return (T)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> calls.apply(method.getName(), arguments));
  }

  private List<Tuple> saved(String state) {
    return saved.computeIfAbsent(state, name -> new ArrayList<>());
  }

  private ListState<?> list(List<Tuple> entries) {
    return of(
        ListState.class,
        (name, arguments) -> {
          switch (name) {
            case "get" -> {
              return List.copyOf(entries);
            }
            case "clear" -> entries.clear();
            default -> entries.add((Tuple) arguments[0]);
          }
          return null;
        });
  }

  /** Makes a subtask's erasures, of which none is confirmed. */
  private Erasures erasures(int maxPages) throws Exception {
    return new Erasures(store, engine, keys(), null, sent::add, maxPages);
  }

  private TenantKeyState keys() throws Exception {
    return new TenantKeyState(store, engine.tiers(), new TaskInfoImpl("serving", 8, 0, 2, 0));
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
    assertThat(saved("page-erasures"))
        .extracting(each -> ((byte[]) each.getField(2)).length)
        .containsExactlyInAnyOrder(96, 64);
    asked.clear();
    Erasures next = erasures(100);
    assertThat(next.pendingPages()).isEqualTo(2);
    assertThat(asked).containsExactly("erase", "erase");
    next.save();
    assertThat(saved("page-erasures")).hasSize(2);
  }

  @Test
  void anErasureThatFailsIsTriedAgainLater() throws Exception {
    List<Runnable> later = new ArrayList<>();
    MailboxExecutor mailbox =
        of(
            MailboxExecutor.class,
            (name, arguments) -> {
              for (Object argument : arguments) {
                if (argument instanceof ThrowingRunnable<?> mail) {
                  ThrowingRunnable.unchecked(mail).run();
                }
              }
              return null;
            });
    Erasures erasures = new Erasures(store, engine, keys(), mailbox, null, 100, later::add);
    answer = CompletableFuture.failedFuture(new IOException("injected"));
    erasures.erasePages(names(3), 3, false);
    erasures.erasePages(names(2), 2, false);
    assertThat(later).as("one attempt for both").hasSize(1);
    assertThat(erasures.pendingPages()).isEqualTo(2);
    answer = CompletableFuture.completedFuture(true);
    later.get(0).run();
    assertThat(asked).containsExactly("erase", "erase", "erase", "erase");
    assertThat(erasures.pendingPages()).isZero();
  }

  @Test
  void tooManyPagesBecomeAllPages() throws Exception {
    Erasures first = erasures(10);
    first.erasePages(names(6), 6, false);
    first.erasePages(names(6), 6, false);
    first.save();
    assertThat(asked).containsExactly("erase", "eraseAll");
    assertThat(sent).isEmpty();
    assertThat(saved("page-erasures")).hasSize(1);
    asked.clear();
    erasures(10);
    assertThat(asked).containsExactly("eraseAll");
  }

  @Test
  void tooManyPagesOfWhichOtherEnginesHaveSomeBecomeAllPagesOfAllEngines() throws Exception {
    Erasures first = erasures(10);
    first.erasePages(names(6), 6, true);
    first.erasePages(names(6), 6, false);
    assertThat(sent).hasSize(1);
    Erasure all = (Erasure) sent.get(0);
    assertThat(all.what()).isEqualTo(What.ALL_PAGES);
    Erasures other = erasures(10);
    asked.clear();
    other.receive(all);
    assertThat(asked).containsExactly("eraseAll");
  }

  @Test
  void aRestoreDeletesKeysWhoseDeletionNotAllSubtasksHadConfirmed() throws Exception {
    byte[] ids = ByteBuffer.allocate(2 * Long.BYTES).putLong(7).putLong(8).array();
    saved("page-erasures").add(Tuple3.of("keys", What.KEYS, ids));
    saved("page-keys").add(Tuple3.of(7L, 1L, new byte[32]));
    saved("page-keys").add(Tuple3.of(9L, 1L, new byte[32]));
    Erasures restored = erasures(10);
    engine.tiers().keys().add(new TenantKeys.Key(8, 1, new byte[32]));
    assertThat(engine.tiers().keys().toSave(0, 1))
        .extracting(TenantKeys.Key::id)
        .containsExactly(9L);
    assertThat(restored.pendingPages()).isZero();
  }

  @Test
  void aTenantsKeysAreDeletedOnceMoreByTheSuccessorOfACheckpoint() throws Exception {
    Erasures first = erasures(10);
    first.eraseTenant("acme", 3);
    first.save();
    engine.tiers().keys().add(new TenantKeys.Key(7, 0, new byte[32]));
    Erasures next = erasures(10);
    assertThat(next.toPass()).isEqualTo(Map.of("acme", 3L));
    assertThat(engine.tiers().keys().toSave(0, 1)).isEmpty();
  }
}
