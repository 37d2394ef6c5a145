package io.radixflow.operators.flink.erasure;

import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.operators.flink.recovery.SuspectOutput;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that a canonical savepoint has nothing that was said in sessions that ended. */
@Timeout(180)
class ErasedBytesTest {
  private static final String SECRET = "xyzzy-plugh-secret";
  private static final String TENANT = "tenant-of-the-erased";
  private static final String KEPT = "grue-lantern-kept";

  @ParameterizedTest
  @CsvSource({
    "erase,false",
    "erase,true",
    "erase_tenant,false",
    "erase_tenant,true",
    "close,true",
    "idle,true"
  })
  void aSavepointHasNoTextOfAnEndedSession(String ending, boolean rocksDb) throws Exception {
    ScriptedEngine engine = new ScriptedEngine(4096, 12);
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    LostReplies lost = ending.startsWith("erase") ? new SuspectOutput() : null;
    try (ServingHarness h = ServingHarness.of(engine, options, lost, 1, 0)) {
      h.setBackend(rocksDb).open();
      speak(h, "gone", SECRET, TENANT);
      String reply = h.reply("r1-gone").text();
      assertThat(reply).hasSize(12);
      if (ending.equals("idle")) {
        h.settle().setProcessingTime(20_000);
      }
      speak(h, "kept", KEPT, "other");
      byte[] before = savepoint(h, 70);
      assertThat(contains(before, KEPT.getBytes(UTF_8))).isTrue();
      assertThat(contains(before, ids(KEPT))).isTrue();
      if (!ending.equals("idle")) {
        assertThat(contains(before, SECRET.getBytes(UTF_8))).isTrue();
        assertThat(contains(before, ids(SECRET))).isTrue();
        assertThat(contains(before, ids(reply))).isTrue();
        end(h, ending);
      }
      byte[] after = savepoint(h, 71);
      assertThat(contains(after, KEPT.getBytes(UTF_8))).isTrue();
      for (byte[] secret :
          List.of(SECRET.getBytes(UTF_8), SECRET.getBytes(UTF_16BE), ids(SECRET))) {
        assertThat(contains(after, secret)).isFalse();
      }
      for (byte[] secret : List.of(reply.getBytes(UTF_8), ids(reply))) {
        assertThat(contains(after, secret)).isFalse();
      }
      assertThat(contains(after, TENANT.getBytes(UTF_8))).isEqualTo(ending.equals("close"));
    }
  }

  /** Makes a history with branches, a reply in flight that a checkpoint has, and queued turns. */
  private static void speak(ServingHarness h, String session, String secret, String tenant)
      throws Exception {
    h.send(
        Events.of(EventKind.OPEN, session, "o-" + session)
            .with(new Message("system", "system " + secret))
            .of(tenant));
    h.send(turn(session, "r1-" + session, secret).of(tenant)).settle();
    h.send(Events.fork(session, "f-" + session, "b", null).of(tenant)).settle();
    h.send(turn(session, "r2-" + session, secret).on("b").of(tenant)).settle();
    h.send(turn(session, "r3-" + session, secret).of(tenant));
    h.send(turn(session, "r4-" + session, secret).of(tenant));
    h.generate(3);
    h.snapshot();
    h.generate(2);
    h.snapshot();
  }

  private static Events turn(String session, String turn, String secret) {
    return Events.message(session, turn, "so " + secret + " it is");
  }

  private static void end(ServingHarness h, String ending) throws Exception {
    switch (ending) {
      case "erase" -> h.send(Events.of(EventKind.ERASE, "gone", "end").of(TENANT));
      case "close" -> h.send(Events.of(EventKind.CLOSE, "gone", "end").of(TENANT));
      default -> h.control("erase_tenant", TENANT, null).runMails();
    }
  }

  private static byte[] ids(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    ByteBuffer ids = ByteBuffer.allocate(4 * bytes.length);
    for (byte each : bytes) {
      ids.putInt(each);
    }
    return ids.array();
  }

  private static byte[] savepoint(ServingHarness h, long id) throws Exception {
    OperatorSubtaskState state =
        h.snapshotWithLocalState(id, id, SavepointType.savepoint(SavepointFormatType.CANONICAL))
            .getJobManagerOwnedState();
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (KeyedStateHandle handle : state.getManagedKeyedState()) {
      append(all, (StreamStateHandle) handle);
    }
    for (KeyedStateHandle handle : state.getRawKeyedState()) {
      append(all, (StreamStateHandle) handle);
    }
    for (OperatorStateHandle handle : state.getManagedOperatorState()) {
      append(all, handle);
    }
    return all.toByteArray();
  }

  private static void append(ByteArrayOutputStream all, StreamStateHandle handle)
      throws IOException {
    try (InputStream in = handle.openInputStream()) {
      in.transferTo(all);
    }
  }

  private static boolean contains(byte[] content, byte[] wanted) {
    for (int at = 0; at + wanted.length <= content.length; at++) {
      if (Arrays.equals(content, at, at + wanted.length, wanted, 0, wanted.length)) {
        return true;
      }
    }
    return false;
  }
}
