package io.radixflow.client.kvevents;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.event.Schemas;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvEventRecordsTest {
  private static final String NAMESPACE = "0123456789abcdef0123456789abcdef";

  private static final KvEvent.Stored STORED =
      new KvEvent.Stored(
          KvTier.DEVICE, NAMESPACE, Long.MIN_VALUE, Long.MAX_VALUE, 4, new int[] {1, 2, 3, -4});

  private static final List<KvEventRecord> RECORDS =
      List.of(
          new KvEventRecord.Engine("host-0", 3, 1, KvEventRecord.State.SYNCING, 16, "abc"),
          new KvEventRecord.Engine("host-0", 3, 9, KvEventRecord.State.CLOSED, 16, "abc"),
          new KvEventRecord.Block("host-0", 3, 2, STORED),
          new KvEventRecord.Block(
              "host-0", 3, 2, new KvEvent.Stored(KvTier.DISK, "", 0, null, 1, null)));

  @Test
  void recordsFitTheirSchemaAndAreReadBackEqual() throws IOException {
    for (KvEventRecord record : RECORDS) {
      byte[] json = KvEventWriter.write(record);
      assertThat(Schemas.check(Schemas.KV_EVENT, json)).isEmpty();
      assertThat(KvEventReader.read(json)).usingRecursiveComparison().isEqualTo(record);
    }
  }

  @Test
  void fieldsHaveTheNamesOfSglangAndVllm() {
    JsonNode json = Schemas.tree(KvEventWriter.write(RECORDS.get(2)));
    assertThat(json.get("block_hashes").toString()).isEqualTo("[-9223372036854775808]");
    assertThat(json.get("parent_block_hash").longValue()).isEqualTo(Long.MAX_VALUE);
    assertThat(json.get("token_ids").toString()).isEqualTo("[1,2,3,-4]");
    assertThat(json.get("block_size").intValue()).isEqualTo(4);
    assertThat(json.get("medium").textValue()).isEqualTo("device");
  }

  @Test
  void keysTellEnginesFromBlocks() {
    assertThat(KvEventRecord.Engine.key("host-0")).isEqualTo("engine/host-0");
    assertThat(KvEventRecord.Block.key("host-0", KvTier.DEVICE, -5)).isEqualTo("host-0/device/-5");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{",
        "{}",
        "{'type':'other','engine':'e','epoch':1,'sequence':1,'block_size':1}",
        "{'type':'engine','engine':'e','epoch':1,'sequence':1,'block_size':1,'state':'dead'}",
        "{'type':'engine','engine':'e','epoch':1,'sequence':1,'block_size':1,'state':'live'}",
        "{'type':'engine','engine':'d','engine':'e','epoch':1,'sequence':1,'block_size':1,"
            + "'state':'live','numerics_epoch':'n'}",
        "{'type':'stored','engine':'e','epoch':1,'sequence':1,'block_size':1,'medium':'device',"
            + "'namespace':'','block_hashes':[],'parent_block_hash':null}",
        "{'type':'stored','engine':'e','epoch':1,'sequence':1,'block_size':1,'medium':'device',"
            + "'namespace':'','block_hashes':[9223372036854775808],'parent_block_hash':null}",
        "{'type':'stored','engine':'e','epoch':1,'sequence':1,'block_size':1,'medium':'device',"
            + "'namespace':'','block_hashes':[1],'parent_block_hash':null,'token_ids':['x']}",
      })
  void whatIsNoRecordIsRefused(String json) {
    assertThatIOException()
        .isThrownBy(() -> KvEventReader.read(json.replace('\'', '"').getBytes(UTF_8)));
  }
}
