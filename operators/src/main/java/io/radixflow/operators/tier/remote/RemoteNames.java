package io.radixflow.operators.tier.remote;

import io.radixflow.operators.tier.page.PageId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * How a remote tier's objects are named; all below the numerics epoch.
 *
 * <pre>
 * EPOCH/pages/DD/D…      a page, by the hexadecimal digits of its digest
 * EPOCH/tenants/T/…      a list of pages of a tenant
 * EPOCH/keys/….key/…     the tenants' keys, see {@link RemoteKeyFiles}
 * EPOCH/swept            see {@link RemoteSweep}
 * </pre>
 *
 * <p>T is a hash of the number that stands for the tenant, which itself is a keyed hash of the
 * name.
 */
record RemoteNames(String epoch) {
  /** An object whose age tells when old pages were last deleted. */
  static final String SWEPT = "swept";

  private static final int FOLDERS = 256;
  private static final HexFormat HEX = HexFormat.of();
  private static final int SHARD = 2;
  private static final int TAG_BYTES = 8;

  String page(PageId id) {
    ByteBuffer digest = ByteBuffer.allocate(4 * Long.BYTES);
    digest.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d());
    String digits = HEX.formatHex(digest.array());
    return epoch + "/pages/" + digits.substring(0, SHARD) + "/" + digits.substring(SHARD);
  }

  /** The folders that pages are in. */
  List<String> pageFolders() {
    return IntStream.range(0, FOLDERS)
        .mapToObj(i -> epoch + "/pages/" + HEX.toHexDigits((byte) i))
        .toList();
  }

  String tenants() {
    return epoch + "/tenants";
  }

  String swept() {
    return epoch + "/" + SWEPT;
  }

  String tenant(long tenant) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      sha.update("radixflow/remote-tenant/1".getBytes(StandardCharsets.UTF_8));
      byte[] tag = sha.digest(ByteBuffer.allocate(Long.BYTES).putLong(tenant).array());
      return tenants() + "/" + HEX.formatHex(tag, 0, TAG_BYTES);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK has no SHA-256", e);
    }
  }

  /** A name that no other list has. */
  String newList(long tenant) {
    return tenant(tenant) + "/" + UUID.randomUUID();
  }

  String keys() {
    return epoch + "/keys";
  }
}
