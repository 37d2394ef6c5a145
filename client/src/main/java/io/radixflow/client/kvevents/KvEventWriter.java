package io.radixflow.client.kvevents;

import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import io.radixflow.protocol.topic.JsonRecords;
import java.util.Locale;

/** Writes KV event records in the form of {@code schema/kv-event.schema.json}. */
public final class KvEventWriter {

  private KvEventWriter() {}

  /** The record's value. */
  public static byte[] write(KvEventRecord record) {
    return record instanceof KvEventRecord.Engine engine
        ? write(engine)
        : write((KvEventRecord.Block) record);
  }

  private static byte[] write(KvEventRecord.Engine record) {
    return JsonRecords.write(
        json -> {
          json.writeStringField("type", "engine");
          json.writeStringField("engine", record.engine());
          json.writeNumberField("epoch", record.epoch());
          json.writeNumberField("sequence", record.sequence());
          json.writeStringField("state", record.state().name().toLowerCase(Locale.ROOT));
          json.writeNumberField("block_size", record.blockSize());
          json.writeStringField("numerics_epoch", record.numericsEpoch());
        });
  }

  private static byte[] write(KvEventRecord.Block record) {
    KvEvent.Stored stored = record.stored();
    return JsonRecords.write(
        json -> {
          json.writeStringField("type", "stored");
          json.writeStringField("engine", record.engine());
          json.writeNumberField("epoch", record.epoch());
          json.writeNumberField("sequence", record.sequence());
          json.writeStringField("medium", medium(stored.tier()));
          json.writeStringField("namespace", stored.namespace());
          json.writeArrayFieldStart("block_hashes");
          json.writeNumber(stored.block());
          json.writeEndArray();
          if (stored.parent() == null) {
            json.writeNullField("parent_block_hash");
          } else {
            json.writeNumberField("parent_block_hash", stored.parent());
          }
          json.writeNumberField("block_size", stored.pageTokens());
          if (stored.tokenIds() != null) {
            json.writeFieldName("token_ids");
            json.writeArray(stored.tokenIds(), 0, stored.tokenIds().length);
          }
        });
  }

  static String medium(KvTier tier) {
    return tier.name().toLowerCase(Locale.ROOT);
  }
}
