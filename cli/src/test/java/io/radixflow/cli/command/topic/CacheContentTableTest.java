package io.radixflow.cli.command.topic;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventWriter;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class CacheContentTableTest {
  private static final String NAMESPACE = "0123456789abcdef0123456789abcdef";

  private final KvEventsView view = new KvEventsView();

  private void engine(String name, KvEventRecord.State state) {
    byte[] value = KvEventWriter.write(new KvEventRecord.Engine(name, 7, 1, state, 16, "n"));
    view.apply(0, KvEventRecord.Engine.key(name), value, 0, 1_000);
  }

  private void block(String engine, KvTier tier, String namespace, long block) {
    KvEvent.Stored stored = new KvEvent.Stored(tier, namespace, block, null, 16, null);
    view.apply(
        0,
        KvEventRecord.Block.key(engine, tier, block),
        KvEventWriter.write(new KvEventRecord.Block(engine, 7, 2, stored)),
        0,
        1_500);
  }

  @Test
  void eachEngineAndTierHasALine() {
    engine("host-0", KvEventRecord.State.LIVE);
    block("host-0", KvTier.DEVICE, "", 1);
    block("host-0", KvTier.DEVICE, NAMESPACE, 2);
    block("host-0", KvTier.DEVICE, NAMESPACE, 3);
    block("host-0", KvTier.HOST, "", 1);
    engine("host-1", KvEventRecord.State.CLOSED);
    StringWriter out = new StringWriter();
    new CacheContentTable(view, 4_600).print(new PrintWriter(out, true));
    assertThat(out.toString().lines().skip(1).map(line -> line.replaceAll(" +", " ")))
        .containsExactly(
            "host-0 live 7 device 3 48 2 3 s ago",
            "host-0 live 7 host 1 16 1 3 s ago",
            "host-1 closed 7 device 0 0 0 3 s ago");
  }
}
