package io.radixflow.client.kvevents;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonLimits;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;

/** Reads the output of {@link KvEventWriter}, for clients that follow the caches. */
public final class KvEventReader {

  private static final JsonMapper MAPPER = JsonLimits.KV_EVENT.mapper();
  private static final int MAX_BLOCK_SIZE = 1 << 20;

  private KvEventReader() {}

  /**
   * Reads a record's value.
   *
   * @throws IOException if it is not a KV event; the message says why
   */
  public static KvEventRecord read(byte[] value) throws IOException {
    try {
      return read(JsonObject.of(MAPPER.readTree(value), "the record"));
    } catch (InvalidInputException e) {
      throw new IOException(e.getMessage(), e);
    } catch (JsonProcessingException e) {
      throw new IOException("the record is not JSON", e);
    }
  }

  private static KvEventRecord read(JsonObject record) {
    record.require("engine", "epoch", "sequence", "block_size", "type");
    String engine = record.id("engine");
    long epoch = record.integer("epoch", 0, Long.MAX_VALUE);
    long sequence = record.integer("sequence", 0, Long.MAX_VALUE);
    int blockSize = record.integer("block_size", 1, MAX_BLOCK_SIZE).intValue();
    String type = record.name("type");
    return switch (type) {
      case "engine" -> {
        record.require("state", "numerics_epoch");
        yield new KvEventRecord.Engine(
            engine,
            epoch,
            sequence,
            record.choice("state", KvEventRecord.State.class),
            blockSize,
            record.name("numerics_epoch"));
      }
      case "stored" -> new KvEventRecord.Block(engine, epoch, sequence, stored(record, blockSize));
      default -> throw new InvalidInputException("type is " + Texts.quote(type));
    };
  }

  private static KvEvent.Stored stored(JsonObject record, int blockSize) {
    record.require("block_hashes", "medium", "namespace");
    JsonNode hashes = record.array("block_hashes", "64-bit integers", 1);
    if (hashes.isEmpty()) {
      throw new InvalidInputException("block_hashes is empty; it must have one hash");
    }
    return new KvEvent.Stored(
        record.choice("medium", KvTier.class),
        record.name("namespace"),
        JsonObject.integer("block_hashes[0]", hashes.get(0), Long.MIN_VALUE, Long.MAX_VALUE),
        record.integer("parent_block_hash", Long.MIN_VALUE, Long.MAX_VALUE),
        blockSize,
        record.integers("token_ids"));
  }
}
