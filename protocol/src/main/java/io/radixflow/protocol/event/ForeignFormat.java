package io.radixflow.protocol.event;

import java.nio.ByteBuffer;

/**
 * Recognizes the output of serializers that do not write plain JSON, so that an error can say what
 * to change.
 */
final class ForeignFormat {
  private static final String PLAIN = ": use a serializer that writes plain JSON as UTF-8";

  private ForeignFormat() {}

  /** Names the format of a value that is not JSON; null if the format is unknown. */
  static String of(byte[] value) {
    if (value.length > 5 && value[0] == 0) {
      int id = ByteBuffer.wrap(value).getInt(1);
      return "it looks like Schema Registry's wire format (a byte of 0, then the schema id "
          + Integer.toUnsignedString(id)
          + ")"
          + PLAIN;
    }
    if (value.length > 18 && value[0] == 3 && (value[1] == 0 || value[1] == 5)) {
      return "it looks like the wire format of the AWS Glue Schema Registry (a byte of 3, then a"
          + " schema's UUID)"
          + PLAIN;
    }
    if (begins(value, 0x1f, 0x8b)) {
      return "it looks like gzip: leave compression to the producer's compression.type";
    }
    if (begins(value, 0xac, 0xed)) {
      return "it looks like a serialized Java object" + PLAIN;
    }
    if (begins(value, 0xc3, 0x01) || begins(value, 'O', 'b', 'j', 1)) {
      return "it looks like Avro" + PLAIN;
    }
    return null;
  }

  private static boolean begins(byte[] value, int... bytes) {
    for (int i = 0; i < bytes.length; i++) {
      if (i >= value.length || value[i] != (byte) bytes[i]) {
        return false;
      }
    }
    return true;
  }
}
