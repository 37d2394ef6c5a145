package io.radixflow.gateway.http;

import java.security.SecureRandom;
import java.util.Base64;

/** Creates ids that no one can guess. */
public final class RandomIds {

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int BYTES = 16;

  private RandomIds() {}

  /**
   * Returns a new id of 128 random bits.
   *
   * @param kind the beginning of the id, before an underscore
   */
  public static String next(String kind) {
    byte[] bytes = new byte[BYTES];
    RANDOM.nextBytes(bytes);
    return kind + "_" + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
