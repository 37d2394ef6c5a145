package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.operators.record.KvEvent;
import io.radixflow.operators.record.KvTier;
import java.io.IOException;
import java.util.Locale;

/** Reads what {@link KvEventWriter} writes, for whoever follows the caches. */
public final class KvEventReader {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int MAX_BLOCK_SIZE = 1 << 20;

  private KvEventReader() {}

  /**
   * Reads a record's value.
   *
   * @throws IOException if it is none; the message says what is wrong
   */
  public static KvEventRecord read(byte[] value) throws IOException {
    try {
      return read(fields(value));
    } catch (InvalidEventException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private static KvEventRecord read(Fields fields) throws InvalidEventException {
    String engine = given("engine", fields.id("engine"));
    long epoch = given("epoch", fields.integer("epoch", 0, Long.MAX_VALUE));
    long sequence = given("sequence", fields.integer("sequence", 0, Long.MAX_VALUE));
    int blockSize = given("block_size", fields.integer("block_size", 1, MAX_BLOCK_SIZE)).intValue();
    String type = given("type", fields.name("type"));
    return switch (type) {
      case "engine" ->
          new KvEventRecord.Engine(
              engine,
              epoch,
              sequence,
              choice(fields, "state", KvEventRecord.State.class),
              blockSize,
              given("numerics_epoch", fields.name("numerics_epoch")));
      case "stored" -> new KvEventRecord.Block(engine, epoch, sequence, stored(fields, blockSize));
      default -> throw new InvalidEventException("type is " + Texts.quote(type));
    };
  }

  private static Fields fields(byte[] value) throws InvalidEventException {
    try {
      if (MAPPER.readTree(value) instanceof ObjectNode object) {
        return new Fields(object);
      }
    } catch (IOException e) {
      throw new InvalidEventException("the record is not JSON");
    }
    throw new InvalidEventException("the record is no JSON object");
  }

  private static KvEvent.Stored stored(Fields fields, int blockSize) throws InvalidEventException {
    JsonNode hashes = given("block_hashes", fields.get("block_hashes"));
    if (hashes.size() != 1 || !hashes.get(0).canConvertToLong()) {
      throw new InvalidEventException("block_hashes must be one 64-bit integer");
    }
    return new KvEvent.Stored(
        choice(fields, "medium", KvTier.class),
        given("namespace", fields.name("namespace")),
        hashes.get(0).longValue(),
        fields.integer("parent_block_hash", Long.MIN_VALUE, Long.MAX_VALUE),
        blockSize,
        tokenIds(fields.get("token_ids")));
  }

  private static int[] tokenIds(JsonNode json) throws InvalidEventException {
    if (json == null) {
      return null;
    }
    int[] ids = new int[json.size()];
    for (int i = 0; i < ids.length; i++) {
      if (!json.get(i).canConvertToInt()) {
        throw new InvalidEventException("token_ids has something else than 32-bit integers");
      }
      ids[i] = json.get(i).intValue();
    }
    return ids;
  }

  private static <E extends Enum<E>> E choice(Fields fields, String field, Class<E> type)
      throws InvalidEventException {
    String name = given(field, fields.name(field));
    for (E value : type.getEnumConstants()) {
      if (value.name().toLowerCase(Locale.ROOT).equals(name)) {
        return value;
      }
    }
    throw new InvalidEventException(field + " is " + Texts.quote(name));
  }

  private static <T> T given(String field, T value) throws InvalidEventException {
    if (value == null) {
      throw new InvalidEventException(field + " is missing");
    }
    return value;
  }
}
