package io.radixflow.operators.tier.store;

import java.io.IOException;
import java.util.List;

/** Where the keys of tenants lie. Safe for several threads. */
public interface KeyFiles {

  /** The files of a name; none if there is none. */
  List<byte[]> read(String name) throws IOException;

  /**
   * Makes a file, which appears whole. Where several processes share the files, it replaces none:
   * all that are made of one name stay.
   */
  void write(String name, byte[] bytes) throws IOException;

  /** Destroys the bytes of the files of a name, if there are any, and the files. */
  void destroy(String name) throws IOException;
}
