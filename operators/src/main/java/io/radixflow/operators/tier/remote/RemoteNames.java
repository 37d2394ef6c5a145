package io.radixflow.operators.tier.remote;

import io.radixflow.operators.tier.page.PageId;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The names of a remote tier's objects; all lie below the numerics epoch.
 *
 * <pre>
 * EPOCH/pages/DD/D…      a page, by the hexadecimal digits of its digest
 * EPOCH/swept            see {@link RemoteSweep}
 * </pre>
 */
record RemoteNames(String epoch) {
  /** The object that each sweep writes again, so that its age is that of the last sweep. */
  static final String SWEPT = "swept";

  private static final int FOLDERS = 256;
  private static final HexFormat HEX = HexFormat.of();
  private static final int SHARD = 2;

  String page(PageId id) {
    ByteBuffer digest = ByteBuffer.allocate(4 * Long.BYTES);
    digest.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d());
    String digits = HEX.formatHex(digest.array());
    return epoch + "/pages/" + digits.substring(0, SHARD) + "/" + digits.substring(SHARD);
  }

  /** Returns the folders that pages are in. */
  List<String> pageFolders() {
    return IntStream.range(0, FOLDERS)
        .mapToObj(i -> epoch + "/pages/" + HEX.toHexDigits((byte) i))
        .toList();
  }

  String swept() {
    return epoch + "/" + SWEPT;
  }
}
